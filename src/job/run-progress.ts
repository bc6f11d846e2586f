import { RequestCounts } from "../client/request-counts.js";

/** The step of a run that takes almost all of its time. */
export const readingDocuments = "reading documents";

/** The step of a worker without a document. */
export const waitingForDocuments = "waiting for documents";

/** The counts of a run so far. Its stages update them, and the progress view shows them. */
export interface RunProgress {
  readonly requests: RequestCounts;
  documents: number;
  documentsDone: number;
  documentsFailed: number;
  chunks: number;
  child_chunks: number;
  /** The number of pages and child lists of the documents begun so far. `pagesDone`: how many of them are done. */
  pagesExpected: number;
  pagesDone: number;
  documentsBegun: number;
  /** Documents that an earlier process read, so that they take no time now. */
  documentsFound: number;
  /** Answered requests of workers that are not yet in a result; only for the progress view. */
  requestsElsewhere: number;
  /** Whether the run ended early and left what it read for the next one. */
  isKept: boolean;
  /** The current step, in a word or two. */
  step: string;
}

export function emptyRunProgress(): RunProgress {
  return {
    requests: new RequestCounts(),
    documents: 0,
    documentsDone: 0,
    documentsFailed: 0,
    chunks: 0,
    child_chunks: 0,
    pagesExpected: 0,
    pagesDone: 0,
    documentsBegun: 0,
    documentsFound: 0,
    requestsElsewhere: 0,
    isKept: false,
    step: "starting",
  };
}
