import type { Listed, ListPage } from "../client/check-answer.js";
import { type DocumentRef, type KnowledgeApi, pageSize } from "../client/knowledge-api.js";
import { type ChildEvidence, evidenceOfPage } from "../crawl/auto-child-lists.js";
import { unlessGone } from "../crawl/child-lists.js";
import { embeddedChildren } from "../crawl/embedded-children.js";
import { needsDetails, noEditEvidence, withEvidence } from "../crawl/needs-details.js";
import { mapAhead, type Prefetch } from "../crawl/prefetch.js";
import { canBeAnchor, hasSettled } from "../crawl/read-anchored.js";
import { SkipError } from "../errors.js";
import type { RunProgress } from "../job/run-progress.js";
import { attachmentsIn } from "../rows/row.js";
import { rowFromRecord } from "../rows/row-from-record.js";

/** Maximum documents to sample, the largest ones: enough to compute averages. */
const mostSampled = 100;
/**
 * How many child lists to read of a document whose chunks embed no children: `firstLists`, then `moreLists` others if some of
 * those are not empty.
 */
const firstLists = 3;
const moreLists = 9;

/** The plan's knowledge of one document. */
export interface DocumentSurvey {
  readonly ref: DocumentRef;
  /** Chunks that the service counts; null if unknown. */
  readonly total: number | null;
  readonly docForm: string | null;
  /** Why the document cannot be read; null if it can. */
  readonly error: string | null;
  /** Whether its chunks can be read, but not its child lists. */
  readonly lacksLists: boolean;
  /** Facts from some pages of the document; undefined if none was read. */
  readonly sample: DocumentSample | undefined;
}

/** Facts from some pages of a document and some of its child lists. */
export interface DocumentSample {
  /** The number of rows on page 1. */
  readonly pageRows: number;
  /** Chunks on all pages read. */
  readonly chunks: number;
  /** Whether other pages repeat rows of page 1; undefined if there is only one page. */
  readonly repeats: boolean | undefined;
  readonly evidence: ChildEvidence;
  /**
   * How a run with `consistency: anchored` can prove the pages. settled: with requests for single rows. young: by reading all
   * pages but the last twice. none: not at all.
   */
  readonly anchor: "settled" | "young" | "none";
  /** Whether chunks embed what their child lists hold; unknown if no list has children. */
  readonly embedding: "agrees" | "differs" | "absent" | "unknown";
  /** The number of children of each sampled chunk, where known. */
  readonly children: readonly number[];
  /** Rows on the first page of a child list with several pages; undefined if none was read. */
  readonly childPageRows: number | undefined;
  /** Files attached to the chunks. */
  readonly attachments: number;
  /** Whether the rows that were read look edited: then a run with `details: auto` asks for the details of the document. */
  readonly edited: boolean;
  /** Mean bytes of a row as a JSONL line. */
  readonly chunkBytes: number;
  readonly childBytes: number;
}

type Api = Pick<KnowledgeApi, "chunks" | "childChunks">;

/**
 * Asks every document for one chunk, which also returns the total. Then reads up to three pages of the largest documents and some
 * of their child lists. Notes documents that cannot be read, and throws errors that would end a run.
 */
export async function surveyDocuments(
  api: Api,
  refs: readonly DocumentRef[],
  { prefetch, progress, hasChildren }: SurveyOptions,
): Promise<readonly DocumentSurvey[]> {
  const surveys: DocumentSurvey[] = [];
  progress.documents = refs.length;
  for await (const survey of mapAhead(refs, prefetch, (ref) => countChunks(api, ref))) {
    surveys.push(survey);
    progress.documentsDone++;
    progress.chunks += survey.total ?? 0;
    if (survey.error !== null) progress.documentsFailed++;
  }
  progress.step = "sampling documents";
  const largest = surveys.toSorted((a, b) => (b.total ?? 0) - (a.total ?? 0)).slice(0, mostSampled);
  const sampled = new Map<DocumentRef, DocumentSurvey>();
  const read = (survey: DocumentSurvey) => withPages(api, survey, hasChildren);
  for await (const survey of mapAhead(largest, prefetch, read)) sampled.set(survey.ref, survey);
  const found = surveys.map((survey) => sampled.get(survey.ref) ?? survey);
  const asked = [...sampled.values()].filter(({ total }) => total !== null && total > 0);
  const [refused] = asked;
  if (!refused || !asked.every(({ lacksLists }) => lacksLists)) return found;
  const { error, lacksLists } = refused; // if the service has no child lists, other documents have none either
  return found.map((survey) => (survey.total && survey.error === null ? { ...survey, error, lacksLists } : survey));
}

interface SurveyOptions {
  readonly prefetch: Prefetch;
  readonly progress: RunProgress;
  /** Whether the job reads child chunks. */
  readonly hasChildren: boolean;
}

async function countChunks(api: Api, ref: DocumentRef): Promise<DocumentSurvey> {
  const unknown = { ref, total: null, docForm: null, error: null, lacksLists: false, sample: undefined };
  try {
    const { total, docForm } = await api.chunks(ref, 1, 1);
    return { ...unknown, total, docForm };
  } catch (error) {
    return { ...unknown, error: reasonOf(error) };
  }
}

/** Reads the first page of a document, the last one, and one in the middle. */
async function withPages(api: Api, survey: DocumentSurvey, hasChildren: boolean): Promise<DocumentSurvey> {
  if (!survey.total) return survey;
  const { ref } = survey;
  const [first] = await readPages(api, ref, [1]);
  if (!first || first.rows.length === 0) return survey; // a run would read such a page in smaller pieces
  const { total } = first;
  const last = Math.ceil(total / first.rows.length);
  const others = [...new Set([Math.ceil(last / 2), last])].filter((page) => page > 1);
  const pages = [first, ...(await readPages(api, ref, others))];
  try {
    return { ...survey, total, sample: await surveyPages(api, ref, pages, hasChildren) };
  } catch (error) {
    return { ...survey, error: reasonOf(error), lacksLists: true };
  }
}

/** The readable pages, in order. */
async function readPages(api: Api, ref: DocumentRef, numbers: readonly number[]): Promise<readonly ListPage[]> {
  const read = (page: number) =>
    api.chunks(ref, page).catch((error: unknown) => {
      reasonOf(error);
      return undefined;
    });
  return (await Promise.all(numbers.map(read))).flatMap((page) => page ?? []);
}

/** Compares embedded children with one list. If chunks embed none, reads a few lists. */
async function surveyPages(
  api: Api,
  ref: DocumentRef,
  pages: readonly ListPage[],
  hasChildren: boolean,
): Promise<DocumentSample> {
  const [first, ...others] = pages;
  const { docForm = null, total = 0 } = first ?? {};
  const rows = pages.flatMap((page) => page.rows);
  const witness = rows.find((chunk) => embeddedIn(chunk).length > 0);
  const read = (chunk: Listed) => unlessGone((page) => api.childChunks(ref, chunk.id, page), 1);
  const readAll = async (chunks: readonly Listed[]) =>
    (await Promise.all(chunks.map(read))).flatMap((list) => list ?? []);
  const few = !hasChildren ? [] : await readAll(witness ? [witness] : spread(rows, firstLists));
  const isAny = few.some(({ total }) => total > 0);
  const lists = isAny && !witness ? await readAll(spread(rows, moreLists)) : few;
  const agrees = lists.every((list) => list.total === (witness ? embeddedIn(witness).length : 0));
  const embedding =
    lists.length === 0 ? "unknown" : witness ? (agrees ? "agrees" : "differs") : isAny ? "absent" : "unknown";
  const isShown = embedding === "agrees" || embedding === "unknown";
  const cut = lists.find((list) => list.rows.length > 0 && list.rows.length < list.total);
  const children = [...(witness ? rows.flatMap(embeddedIn) : []), ...lists.flatMap((list) => list.rows)];
  const edits = withEvidence(withEvidence(noEditEvidence, "chunks", rows), "child_chunks", children);
  return {
    pageRows: first?.rows.length ?? 0,
    chunks: rows.length,
    repeats: others.length === 0 ? undefined : others.every((page) => isStartOf(page.rows, first?.rows ?? [])),
    anchor: !pages.every(canBeAnchor) ? "none" : hasSettled(pages.at(-1) ?? noPage) ? "settled" : "young",
    evidence: evidenceOfPage({ records: rows, docForm, total }),
    embedding,
    children: isShown ? rows.map((chunk) => embeddedIn(chunk).length) : lists.map((list) => list.total),
    childPageRows: cut?.rows.length,
    attachments: rows.reduce((sum, { attachments }) => sum + attachmentsIn(attachments).length, 0),
    edited: needsDetails(edits),
    chunkBytes: meanBytes("chunks", rows, ref),
    childBytes: meanBytes("child_chunks", children, ref),
  };
}

const noPage: ListPage = { rows: [], total: 0, docForm: null };

function isStartOf(some: readonly Listed[], all: readonly Listed[]): boolean {
  return some.length > 0 && some.every(({ id }, at) => id === all[at]?.id);
}

function embeddedIn(chunk: Listed): readonly Listed[] {
  return embeddedChildren(chunk) ?? [];
}

/** Picks this many items, spread evenly from the first to the last. */
function spread<T>(items: readonly T[], many: number): readonly T[] {
  const places = Array.from({ length: many }, (_, nth) =>
    Math.round((nth * (items.length - 1)) / Math.max(1, many - 1)),
  );
  return [...new Set(places)].flatMap((place) => items.slice(place, place + 1));
}

/** Maximum rows per document whose size is measured. */
const enough = 100;

/** The mean row size. Leaves out rows nested too deeply to serialize, which would fail their document in a run. */
function meanBytes(kind: "chunks" | "child_chunks", records: readonly Listed[], ref: DocumentRef): number {
  const known = { dataset_id: ref.datasetId, document_id: ref.documentId, segment_id: ref.documentId };
  const sizes = spread(records, Math.min(enough, records.length)).flatMap((record) => {
    try {
      const row = rowFromRecord(kind, record, known, { keepSignatures: false, drift: () => {} });
      return [Buffer.byteLength(JSON.stringify(row)) + 1];
    } catch (error) {
      if (error instanceof RangeError) return [];
      throw error;
    }
  });
  return sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length);
}

/** The service's page sizes for chunks and child chunks; Infinity if page 1 holds everything. */
export function pageSizesOf(surveys: readonly DocumentSurvey[]): {
  readonly chunks: number;
  readonly children: number;
} {
  const samples = surveys.flatMap(({ sample, total }) => (sample ? [{ ...sample, total: total ?? 0 }] : []));
  const cut = samples.filter(({ pageRows, total }) => pageRows < total).map(({ pageRows }) => pageRows);
  const isPaged = samples.every(({ pageRows }) => pageRows <= pageSize);
  const childPages = samples.flatMap(({ childPageRows }) => childPageRows ?? []);
  const chunks = cut.length > 0 ? Math.max(...cut) : isPaged ? pageSize : Number.POSITIVE_INFINITY;
  return { chunks, children: childPages.length > 0 ? Math.max(...childPages) : chunks };
}

/** The message of an error that fails a document. Rethrows errors that end a run. */
function reasonOf(error: unknown): string {
  if (error instanceof SkipError) return error.message;
  throw error;
}
