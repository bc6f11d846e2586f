import type { Listed, ListPage } from "../client/check-list.js";
import { type KnowledgeApi, pageSize } from "../client/knowledge-api.js";
import type { LookAhead } from "../crawl/look-ahead.js";
import { SkipError } from "../errors.js";
import type { DocumentSurvey } from "./document-survey.js";
import { PageSize } from "./page-size.js";
import type { RowSizes } from "./row-sizes.js";
import { TieCheck } from "./ties.js";

/** The parts that all questions share, and the facts about the service that they collect. */
export interface Inquiry {
  readonly api: KnowledgeApi;
  readonly lookAhead: LookAhead;
  readonly sizes: RowSizes;
  readonly chunkPages: PageSize;
  readonly childPages: PageSize;
  readonly chunkTies: TieCheck;
  readonly childTies: TieCheck;
  /** Pages of chunks whose has_more was right, wrong or absent. */
  readonly hasMore: { right: number; wrong: number; absent: number };
}

/** An inquiry without facts yet. */
export function newInquiry(parts: Pick<Inquiry, "api" | "lookAhead" | "sizes">): Inquiry {
  return {
    ...parts,
    chunkPages: new PageSize(),
    childPages: new PageSize(),
    chunkTies: new TieCheck(),
    childTies: new TieCheck(),
    hasMore: { right: 0, wrong: 0, absent: 0 },
  };
}

/** Reads a page of the chunks of a document, and records its sizes, page size and has_more. */
export async function readChunks(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  page: number,
  limit = pageSize,
): Promise<ListPage> {
  const list = await inquiry.api.chunks(survey.ref, page, limit);
  const { rows, total, docForm } = list;
  survey.total ??= total;
  survey.docForm ??= docForm;
  survey.sizes.add("chunks", rows);
  if (page > 1) return list;
  inquiry.chunkPages.add({ limit, rows: rows.length, total });
  seeHasMore(inquiry, list, rows.length < total);
  return list;
}

/** Counts whether has_more of a page is right; `isMore` is the truth. A page without rows does not count. */
export function seeHasMore({ hasMore }: Inquiry, { rows, hasMore: said }: ListPage, isMore: boolean): void {
  if (rows.length === 0) return;
  if (typeof said !== "boolean") hasMore.absent++;
  else if (said === isMore) hasMore.right++;
  else hasMore.wrong++;
}

/** Reads the first page of the children of a chunk, and records its sizes and page size. */
async function readChildren(
  { api, childPages }: Inquiry,
  { ref, sizes }: DocumentSurvey,
  { id }: Listed,
  limit = pageSize,
): Promise<ListPage> {
  const list = await api.childChunks(ref, id, 1, limit);
  sizes.add("child_chunks", list.rows);
  childPages.add({ limit, rows: list.rows.length, total: list.total });
  return list;
}

/** Asks how many children a chunk has; `limit` rows of them are enough. Notes a chunk that is gone by now. */
export async function askChildren(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  chunk: Listed,
  limit?: number,
): Promise<void> {
  try {
    const { rows, total } = await readChildren(inquiry, survey, chunk, limit);
    lookForChildTies(inquiry, survey, chunk, { rows, isAnswer: true });
    survey.addList(chunk, rows, total);
  } catch (error) {
    if (!(error instanceof SkipError) || error.code !== "not_found") return survey.fail(error);
    survey.doubts.add("it changed while it was read");
  }
}

/** Compares the child list of a chunk with the children that the chunk embeds, once per chunk. */
export async function sampleChunk(inquiry: Inquiry, survey: DocumentSurvey, chunk: Listed): Promise<void> {
  if (survey.sample(chunk)) await askChildren(inquiry, survey, chunk);
}

/** Reads the first page of the longest known child list, if only that shows how many child chunks fit on a page. */
export async function askLongest(inquiry: Inquiry, surveys: readonly DocumentSurvey[]): Promise<void> {
  const lengthOf = ({ longest }: DocumentSurvey) => longest?.children ?? 0;
  const [survey] = surveys.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  if (!survey?.longest || inquiry.childPages.isCertainFor(survey.longest.children)) return;
  await readChildren(inquiry, survey, survey.longest.chunk).catch((error) => survey.doubt(error));
}

/** Offers a full page of chunks to the search for ties. */
export function lookForTies(inquiry: Inquiry, survey: DocumentSurvey, page: number, rows: readonly Listed[]): void {
  const ask = async () => (await readChunks(inquiry, survey, page)).rows;
  inquiry.chunkTies.offer({ rows, isAnswer: true, ask });
}

/** Offers children of a chunk to the search for ties, from its list or embedded in it. Call it once per chunk. */
export function lookForChildTies(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  chunk: Listed,
  seen: { readonly rows: readonly Listed[]; readonly isAnswer: boolean },
): void {
  const ask = async () => (await readChildren(inquiry, survey, chunk)).rows;
  inquiry.childTies.offer({ ...seen, ask });
}
