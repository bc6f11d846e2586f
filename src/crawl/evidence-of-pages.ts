import type { Listed } from "../client/check-list.js";
import { ChildDigest, type ChildText } from "./child-digest.js";
import { type ChildEvidence, noEvidence, type SampledChunk, sampleSize } from "./child-evidence.js";
import { embeddedChildren } from "./embedded-children.js";

/** A page of chunks, as far as it bears witness. */
export interface WitnessPage {
  /** Rows that no earlier page had. */
  readonly records: readonly Listed[];
  readonly docForm: string | null;
  /** Chunks of the whole document, as its first page tells it. */
  readonly total: number;
}

/** Stretches of a document in each of which a chunk is sampled; the largest of all is sampled besides. */
const stretches = sampleSize - 1;

/**
 * The evidence with one more page. The pages come in order; what is kept of them does not grow with their number. `textOf`
 * is called for the children of a few chunks only.
 */
export function withPage(before: ChildEvidence, page: WitnessPage, textOf: ChildText): ChildEvidence {
  let { embedding, largest, doubt } = before;
  const spread = [...before.spread];
  if (before.chunks > 0 && page.docForm !== before.docForm) doubt ??= "doc_form is not the same on every page";
  let most: { readonly index: number; readonly chunk: Listed; readonly children: readonly Listed[] } | undefined;
  for (const [at, chunk] of page.records.entries()) {
    const children = embeddedChildren(chunk);
    if (!children) doubt ??= "child_chunks of some chunks are no lists of child chunks with an id each";
    if (!children || children.length === 0) continue;
    embedding++;
    const index = before.chunks + at;
    const last = spread.at(-1);
    if (!last || stretchOf(index, page.total) > stretchOf(last.index, page.total)) {
      spread.push(sampled(index, chunk, children, textOf));
    }
    if (children.length > (most?.children.length ?? largest?.rows ?? 0)) most = { index, chunk, children };
  }
  if (most) largest = sampled(most.index, most.chunk, most.children, textOf);
  const docForm = before.chunks > 0 ? before.docForm : page.docForm;
  return { docForm, chunks: before.chunks + page.records.length, embedding, doubt, spread, largest };
}

/** The evidence of a first page alone, for a forecast. */
export function evidenceOfPage(page: WitnessPage): ChildEvidence {
  return withPage(noEvidence, page, () => "");
}

/** A list that turns out longer than its first page said has all the rest in the last stretch. */
function stretchOf(index: number, total: number): number {
  return Math.min(stretches - 1, Math.floor((index * stretches) / Math.max(1, total)));
}

function sampled(index: number, chunk: Listed, children: readonly Listed[], textOf: ChildText): SampledChunk {
  return { index, rows: children.length, digest: new ChildDigest(chunk.id, textOf).add(children).value };
}
