import type { Listed } from "../client/check-list.js";
import { SkipError } from "../errors.js";
import { pagesOf } from "./child-counts.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { Inquiry } from "./inquiry.js";
import { isSameOrder, positionsOf } from "./ties.js";

/** What the questions to the largest document tell of its service; undefined where it could not be told. */
export interface ServiceProbe {
  /** Chunks of the document that was asked. */
  readonly documentSize: number;
  /** Page 2 brings the rows of page 1. */
  readonly pagesRepeat: boolean | undefined;
}

const nothing: ServiceProbe = { documentSize: 0, pagesRepeat: undefined };

/**
 * Asks the largest document for a page of the full size, as a run does, and for its last chunk alone. A document that
 * refuses makes way for the next one.
 */
export async function probeService(inquiry: Inquiry, surveys: readonly DocumentSurvey[]): Promise<ServiceProbe> {
  const readable = surveys.filter(({ total }) => total !== null && total > 0);
  const largest = [...readable].sort((a, b) => (b.total ?? 0) - (a.total ?? 0)).slice(0, 3);
  for (const survey of largest) {
    try {
      return await probeDocument(inquiry, survey);
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      survey.doubts.add(`a page of the full size could not be had: ${error.message}`);
    }
  }
  return nothing;
}

async function probeDocument(inquiry: Inquiry, survey: DocumentSurvey): Promise<ServiceProbe> {
  const { api, chunkPages } = inquiry;
  const { rows, total } = await api.chunks(survey.ref, 1);
  survey.sizes.add("chunks", rows);
  survey.seePositions(positionsOf(rows));
  lookForTies(inquiry, survey, 1, rows);
  chunkPages.add({ limit: 100, rows: rows.length, total });
  const pagesRepeat = total > 1 ? await doPagesRepeat(inquiry, survey, rows, total) : undefined;
  return { documentSize: total, pagesRepeat };
}

/** Looks at a page of chunks of the full size. */
export function lookForTies(
  { api, chunkTies }: Inquiry,
  { ref }: DocumentSurvey,
  page: number,
  rows: readonly Listed[],
): void {
  chunkTies.offer({ rows, isAnswer: true, ask: async () => (await api.chunks(ref, page)).rows });
}

/** Asks for the last chunk alone, and for the last page where there are several. */
async function doPagesRepeat(
  { api, chunkPages }: Inquiry,
  { ref }: DocumentSurvey,
  first: readonly Listed[],
  total: number,
): Promise<boolean | undefined> {
  const last = (await api.chunks(ref, total, 1)).rows;
  const pages = pagesOf(total, chunkPages.rows);
  if (pages === 1) return chunkPages.isPaged ? last.length > 0 && last[0]?.id === first[0]?.id : undefined;
  const lastPage = (await api.chunks(ref, pages)).rows;
  return lastPage.length > 0 && isSameOrder(lastPage, first.slice(0, lastPage.length));
}
