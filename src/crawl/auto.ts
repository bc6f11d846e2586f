import type { Listed } from "../client/check-answer.js";
import { ChildDigest, type ChildText } from "./digests.js";
import { embeddedChildren } from "./embedded-children.js";

/** The evidence, forecast and decision of `child_chunks: auto`, as pure functions: the crawl, the forecast and the summary share them. */

/** Child lists that are asked for as a sample of a document, at the most. */
export const sampleSize = 5;

/** Evidence of the children of one document, from its pages of chunks. */
export interface ChildEvidence {
  /** As every page said it; null where there was none, or no page yet. */
  readonly docForm: string | null;
  /** Chunks that were looked at. */
  readonly chunks: number;
  /** Chunks that embed at least one child. */
  readonly embedding: number;
  /** Why what the pages show cannot be relied on, for readers of the manifest; null where it can. */
  readonly doubt: string | null;
  /** Some of the chunks that embed children, in order: the first in each stretch of the document. */
  readonly spread: readonly SampledChunk[];
  /** The first of those that embed most: what is cut short is cut there. */
  readonly largest: SampledChunk | null;
}

/** A chunk whose child list is to hold what the page of chunks shows of it. */
export interface SampledChunk {
  /** Place in the document, from 0. */
  readonly index: number;
  /** Children that it embeds. */
  readonly rows: number;
  /** The digest of their rows (`ChildDigest`); "" without any. */
  readonly digest: string;
}

/** Nothing was looked at. */
export const noEvidence: ChildEvidence = {
  docForm: null,
  chunks: 0,
  embedding: 0,
  doubt: null,
  spread: [],
  largest: null,
};

/**
 * The source of the children of a document. lists: the child list of every chunk. embedded: from the chunks that embed
 * any, and from the child lists of the others. none: nowhere, there are none.
 */
export type ChildSource = "lists" | "embedded" | "none";

/** A source, and why it is this one. */
export interface ChildPlan {
  readonly source: ChildSource;
  readonly reason: string;
}

/** How the chunks of a document come to their children; the three add up to its chunks. */
interface ListCounts {
  /** Chunks whose child list is asked for, those of a sample included. */
  readonly asked: number;
  /** Chunks whose embedded children are taken instead. */
  readonly embedded: number;
  /** Chunks that are taken to have none. */
  readonly skipped: number;
}

const lists = (reason: string): ChildPlan => ({ source: "lists", reason });

/** The source that the evidence suggests, before any child list is read. A sample of lists must confirm it. */
export function supposedChildren({ docForm, chunks, embedding, doubt }: ChildEvidence): ChildPlan {
  if (doubt !== null) return lists(doubt);
  if (chunks === 0) return lists("there are no chunks");
  if (docForm === null) return lists("the service names no doc_form");
  if (docForm === "text_model" || docForm === "qa_model") {
    if (embedding > 0) return lists(`some chunks embed children, which is not usual in ${docForm}`);
    return { source: "none", reason: `no chunk of this ${docForm} document embeds children` };
  }
  if (docForm !== "hierarchical_model")
    return lists(`nothing is known of doc_form ${JSON.stringify(docForm.slice(0, 60))}`);
  if (embedding === 0) return lists("no chunk embeds its children");
  return { source: "embedded", reason: `${embedding} of ${chunks} chunks embed children` };
}

/**
 * The chunks whose child lists have to bear out what the evidence suggests, in order, `sampleSize` at the most; none where
 * every list is asked anyway.
 */
export function sampleOf(evidence: ChildEvidence): readonly SampledChunk[] {
  const { source } = supposedChildren(evidence);
  if (source === "none") return spreadOver(evidence.chunks).map((index) => ({ index, rows: 0, digest: "" }));
  if (source === "lists") return [];
  const { spread, largest } = evidence;
  const isThere = largest === null || spread.some(({ index }) => index === largest.index);
  return isThere ? spread : [...spread, largest].sort((a, b) => a.index - b.index);
}

/** Up to `sampleSize` places, the first and the last of them and others evenly between. */
function spreadOver(chunks: number): readonly number[] {
  if (chunks <= sampleSize) return Array.from({ length: chunks }, (_, index) => index);
  return Array.from({ length: sampleSize }, (_, nth) => Math.round((nth * (chunks - 1)) / (sampleSize - 1)));
}

/**
 * The plan for a document whose pages of chunks were all read. `differing` is the place, from 0, of the first sampled chunk
 * whose child list is not what its page showed; undefined where all of them are.
 */
export function planChildren(evidence: ChildEvidence, differing: number | undefined): ChildPlan {
  const { source, reason } = supposedChildren(evidence);
  if (source === "lists") return { source, reason };
  if (differing !== undefined) return lists(`the child list of chunk ${differing + 1} is not what the chunk embeds`);
  const sampled = sampleOf(evidence).length;
  const said = source === "none" ? "empty" : "the same";
  return {
    source,
    reason: `${reason}, and ${sampled === 1 ? "1 list" : `${sampled} lists`} asked for as a sample: ${said}`,
  };
}

/** How many lists a plan asks for, when all pages of chunks were read. */
export function listCounts(evidence: ChildEvidence, { source }: ChildPlan): ListCounts {
  const { chunks, embedding } = evidence;
  const sampled = sampleOf(evidence).length;
  if (source === "lists") return { asked: chunks, embedded: 0, skipped: 0 };
  if (source === "none") return { asked: sampled, embedded: 0, skipped: chunks - sampled };
  return { asked: chunks - embedding + sampled, embedded: embedding - sampled, skipped: 0 };
}

/**
 * Forecasts what `auto` will ask for in a document of `total` chunks, if the rest of it is like the pages that the evidence is of, and
 * if the sample agrees; it is as much as `total` where not. Exact, to the same condition, with evidence of all of it.
 */
export function forecastLists(evidence: ChildEvidence, total: number): ListCounts {
  const supposed = supposedChildren(evidence);
  const { source } = supposed;
  if (evidence.chunks >= total) return listCounts(evidence, supposed);
  const sampled = Math.min(total, sampleSize);
  if (source === "none") return { asked: sampled, embedded: 0, skipped: total - sampled };
  if (source === "lists") return { asked: total, embedded: 0, skipped: 0 };
  const embedding = Math.round((total * evidence.embedding) / evidence.chunks);
  const embedded = Math.max(0, embedding - sampled);
  return { asked: total - embedded, embedded, skipped: 0 };
}

/** A page of chunks, as far as it bears witness. */
interface WitnessPage {
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
