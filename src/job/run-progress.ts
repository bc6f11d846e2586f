import { emptyRequestCounts, type RequestCounts } from "../client/request-counts.js";

/** The step of a run that takes almost all of its time. */
export const readingDocuments = "reading documents";

/** The step of a worker that has nothing to read. */
export const waitingForDocuments = "waiting for documents";

/** Counts of a run so far; its stages add to them, the progress view shows them. */
export interface RunProgress {
  readonly requests: RequestCounts;
  documents: number;
  documentsDone: number;
  documentsFailed: number;
  chunks: number;
  child_chunks: number;
  /** Pages and child lists that the documents begun so far take, and those of them that are done. */
  pagesExpected: number;
  pagesDone: number;
  documentsBegun: number;
  /** Documents that an earlier process read: they take no time. */
  documentsFound: number;
  /** Requests of workers that were answered, and that no result has reported yet; for the progress only. */
  requestsElsewhere: number;
  /** True once a run ended early and left what it read for the next one. */
  isKept: boolean;
  /** The present step, in a word or two. */
  step: string;
}

/** A tally of nothing yet. */
export function emptyRunProgress(): RunProgress {
  return {
    requests: emptyRequestCounts(),
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
