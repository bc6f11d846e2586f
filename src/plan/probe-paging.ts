import { SkipError } from "../errors.js";
import { pagesOf } from "./child-counts.js";
import type { DocumentSurvey } from "./document-survey.js";
import { type Inquiry, lookForTies, readChunks, seeHasMore } from "./inquiry.js";
import { isSameOrder } from "./ties.js";

/**
 * Asks the largest document for a page of the full size, as a run does, for its last chunk alone and its last page: whether
 * pages repeat. A document that refuses makes way for the next one. Undefined where nothing tells.
 */
export async function probePaging(inquiry: Inquiry, surveys: readonly DocumentSurvey[]): Promise<boolean | undefined> {
  const readable = surveys.filter(({ total }) => total !== null && total > 0);
  const largest = readable.sort((a, b) => (b.total ?? 0) - (a.total ?? 0)).slice(0, 3);
  for (const survey of largest) {
    try {
      return await doPagesRepeat(inquiry, survey);
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      survey.doubts.add(`a full-size page could not be read: ${error.message}`);
    }
  }
  return undefined;
}

async function doPagesRepeat(inquiry: Inquiry, survey: DocumentSurvey): Promise<boolean | undefined> {
  const { rows, total } = await readChunks(inquiry, survey, 1);
  lookForTies(inquiry, survey, 1, rows);
  if (total <= 1) return undefined;
  const last = await readLast(inquiry, survey, total, 1);
  const pages = pagesOf(total, inquiry.chunkPages.rows);
  if (pages === 1) return inquiry.chunkPages.isPaged ? last.length > 0 && last[0]?.id === rows[0]?.id : undefined;
  const lastPage = await readLast(inquiry, survey, pages);
  return lastPage.length > 0 && isSameOrder(lastPage, rows.slice(0, lastPage.length));
}

/** Rows of the last page, behind which none are left. */
async function readLast(inquiry: Inquiry, survey: DocumentSurvey, page: number, limit?: number) {
  const list = await readChunks(inquiry, survey, page, limit);
  seeHasMore(inquiry, list, false);
  return list.rows;
}
