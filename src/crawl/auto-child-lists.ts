import type { Listed } from "../client/check-answer.js";
import { ChildDigest, type ChildText } from "./digests.js";
import { embeddedChildren } from "./embedded-children.js";

/** `child_chunks: auto` as pure functions: the evidence, the forecast and the decision. The crawl, the plan and the summary share them. */

/** Maximum child lists in the sample of one document. */
export const sampleSize = 5;

/** Evidence on whether chunks of a document have children, from its pages of chunks. */
export interface ChildEvidence {
  /** The `doc_form` of the document, which all pages share; null if the service sends none, or before the first page. */
  readonly docForm: string | null;
  /** The number of chunks on the pages read so far. */
  readonly chunks: number;
  /** Chunks that embed at least one child. */
  readonly embedding: number;
  /** Why the pages cannot be trusted, as text for the manifest; null if they can. */
  readonly doubt: string | null;
  /** A sample of the chunks that embed children, in order: the first one in each stretch of the document. */
  readonly spread: readonly SampledChunk[];
  /** The first chunk that embeds the most children. It shows whether the service truncates embedded children. */
  readonly largest: SampledChunk | null;
}

/** A sampled chunk. Its child list must match the children that the chunk embeds. */
export interface SampledChunk {
  /** The index of the chunk in the document, from 0. */
  readonly index: number;
  /** The number of children that the chunk embeds. */
  readonly rows: number;
  /** The `ChildDigest` of the embedded children; "" if there are none. */
  readonly digest: string;
}

/** The evidence before the first page. */
export const noEvidence: ChildEvidence = {
  docForm: null,
  chunks: 0,
  embedding: 0,
  doubt: null,
  spread: [],
  largest: null,
};

/**
 * The source of a document's children. lists: read every child list. embedded: use the embedded children, and read the
 * child lists of chunks that embed none. none: the document has no children.
 */
export type ChildSource = "lists" | "embedded" | "none";

/** The source of a document's children, and the reason for choosing it. */
export interface ChildPlan {
  readonly source: ChildSource;
  readonly reason: string;
}

/** Counts the chunks of a document by the source of their children. The three counts add up to the number of chunks. */
interface ListCounts {
  /** Chunks whose child list is read, including the sample. */
  readonly asked: number;
  /** Chunks whose embedded children are used instead. */
  readonly embedded: number;
  /** Chunks assumed to have no children. */
  readonly skipped: number;
}

const lists = (reason: string): ChildPlan => ({ source: "lists", reason });

/** Guesses the source from the evidence, before any child list is read. A sample of lists must confirm it. */
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

/** The chunks whose child lists must confirm the guess, in order, at most `sampleSize`. Empty if every list is read anyway. */
export function sampleOf(evidence: ChildEvidence): readonly SampledChunk[] {
  const { source } = supposedChildren(evidence);
  if (source === "none") return spreadOver(evidence.chunks).map((index) => ({ index, rows: 0, digest: "" }));
  if (source === "lists") return [];
  const { spread, largest } = evidence;
  const isThere = largest === null || spread.some(({ index }) => index === largest.index);
  return isThere ? spread : [...spread, largest].sort((a, b) => a.index - b.index);
}

/** Up to `sampleSize` indexes, spread evenly from the first to the last. */
function spreadOver(chunks: number): readonly number[] {
  if (chunks <= sampleSize) return Array.from({ length: chunks }, (_, index) => index);
  return Array.from({ length: sampleSize }, (_, nth) => Math.round((nth * (chunks - 1)) / (sampleSize - 1)));
}

/**
 * Plans a document after all its pages of chunks were read. `differing` is the index, from 0, of the first sampled chunk whose
 * child list does not match its page; undefined if all match.
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

/** Counts the lists that a plan reads, after all pages of chunks were read. */
export function listCounts(evidence: ChildEvidence, { source }: ChildPlan): ListCounts {
  const { chunks, embedding } = evidence;
  const sampled = sampleOf(evidence).length;
  if (source === "lists") return { asked: chunks, embedded: 0, skipped: 0 };
  if (source === "none") return { asked: sampled, embedded: 0, skipped: chunks - sampled };
  return { asked: chunks - embedding + sampled, embedded: embedding - sampled, skipped: 0 };
}

/**
 * Forecasts what `auto` reads in a document of `total` chunks. Assumes that the rest of the document resembles the pages seen,
 * and that the sample confirms the guess; if it does not, `auto` reads all `total` lists. If the pages seen have all chunks,
 * only the sample is uncertain.
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

/** The parts of a page of chunks from which evidence of children is collected. */
interface WitnessPage {
  /** Rows that were on no earlier page. */
  readonly records: readonly Listed[];
  readonly docForm: string | null;
  /** The number of chunks in the whole document, according to its first page. */
  readonly total: number;
}

/** The sample takes one chunk from each of this many equal stretches of the document, and the chunk with the most children. */
const stretches = sampleSize - 1;

/**
 * Adds a page to the evidence. Call it in page order. Memory does not grow with the number of pages, and `textOf` is called for
 * the children of a few chunks only.
 */
export function withPage(before: ChildEvidence, page: WitnessPage, textOf: ChildText): ChildEvidence {
  let { embedding, largest, doubt } = before;
  const spread = [...before.spread];
  if (before.chunks > 0 && page.docForm !== before.docForm) doubt ??= "doc_form is not the same on every page";
  let most: { readonly index: number; readonly chunk: Listed; readonly children: readonly Listed[] } | undefined;
  for (const [at, chunk] of page.records.entries()) {
    const children = embeddedChildren(chunk);
    if (!children) doubt ??= "child_chunks of some chunks is not a list of child chunks with ids";
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

/** The evidence from the first page alone, for a forecast. */
export function evidenceOfPage(page: WitnessPage): ChildEvidence {
  return withPage(noEvidence, page, () => "");
}

/**
 * The stretch of the document that a chunk belongs to. If the list is longer than its first page said, the extra chunks belong
 * to the last stretch.
 */
function stretchOf(index: number, total: number): number {
  return Math.min(stretches - 1, Math.floor((index * stretches) / Math.max(1, total)));
}

function sampled(index: number, chunk: Listed, children: readonly Listed[], textOf: ChildText): SampledChunk {
  return { index, rows: children.length, digest: new ChildDigest(chunk.id, textOf).add(children).value };
}
