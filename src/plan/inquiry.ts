import type { Listed } from "../client/check-list.js";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import type { LookAhead } from "../crawl/look-ahead.js";
import { SkipError } from "../errors.js";
import type { DocumentSurvey } from "./document-survey.js";
import { PageSize } from "./page-size.js";
import type { RowSizes } from "./row-sizes.js";
import { TieCheck } from "./ties.js";

/** What all questions share, and what they learn of the service. */
export interface Inquiry {
  readonly api: KnowledgeApi;
  readonly lookAhead: LookAhead;
  readonly sizes: RowSizes;
  readonly chunkPages: PageSize;
  readonly childPages: PageSize;
  readonly chunkTies: TieCheck;
  readonly childTies: TieCheck;
}

/** An inquiry that knows nothing yet. */
export function newInquiry(parts: Pick<Inquiry, "api" | "lookAhead" | "sizes">): Inquiry {
  const [chunkPages, childPages] = [new PageSize(), new PageSize()];
  return { ...parts, chunkPages, childPages, chunkTies: new TieCheck(), childTies: new TieCheck() };
}

/** Asks for the first page of the children of a chunk, and notes what it says. A chunk that is gone by now is noted, too. */
export async function askChildren(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  chunk: Listed,
  limit?: number,
): Promise<void> {
  try {
    const list = await inquiry.api.childChunks(survey.ref, chunk.id, 1, limit);
    survey.sizes.add("child_chunks", list.rows);
    inquiry.childPages.add({ limit: limit ?? 100, rows: list.rows.length, total: list.total });
    lookForChildTies(inquiry, survey, chunk, list.rows, true);
    survey.addList(chunk, list.rows, list.total);
  } catch (error) {
    if (!(error instanceof SkipError) || error.code !== "not_found") return survey.fail(error);
    survey.doubts.add("it changed while it was asked");
  }
}

/** Looks at children of a chunk, of its list or embedded in it. To be called once for each chunk. */
export function lookForChildTies(
  { api, childTies }: Inquiry,
  { ref }: DocumentSurvey,
  { id }: Listed,
  rows: readonly Listed[],
  isAnswer: boolean,
): void {
  childTies.offer({ rows, isAnswer, ask: async () => (await api.childChunks(ref, id, 1)).rows });
}

/** Where the longest child list that is known may not fit on a page, asks for its first page, to see what does. */
export async function askLongest(inquiry: Inquiry, surveys: readonly DocumentSurvey[]): Promise<void> {
  const lengthOf = ({ longest }: DocumentSurvey) => longest?.children ?? 0;
  const [survey] = [...surveys].sort((a, b) => lengthOf(b) - lengthOf(a));
  if (!survey?.longest || inquiry.childPages.isCertainFor(survey.longest.children)) return;
  try {
    const { rows, total } = await inquiry.api.childChunks(survey.ref, survey.longest.chunk.id, 1);
    inquiry.childPages.add({ limit: 100, rows: rows.length, total });
    survey.sizes.add("child_chunks", rows);
  } catch (error) {
    survey.doubt(error);
  }
}
