import type { AnswerLog } from "./answer-log.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { Inquiry } from "./inquiry.js";

/** Everything that was noticed while a service was asked. */
export interface Evidence extends Pick<Inquiry, "chunkPages" | "childPages" | "chunkTies" | "childTies" | "hasMore"> {
  readonly answers: AnswerLog;
  readonly surveys: readonly DocumentSurvey[];
  /** Whether page 2 brings the rows of page 1; undefined if nothing showed it. */
  readonly pagesRepeat: boolean | undefined;
  /** Datasets that have no list of metadata fields, as on older services. */
  readonly withoutFields: number;
  /** Requests that were refused as too many. */
  readonly throttled: number;
}
