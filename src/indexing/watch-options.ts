import type { RunOptions } from "../run/setting/run-options.js";
import type { WatchedDocument, WatchedDocuments } from "./watched-documents.js";

/** The state of a watch; its polls fill it, the progress view shows it. Moments are in milliseconds. */
export interface WatchTally {
  documents: WatchedDocuments;
  /** When every batch was read for the last time. */
  readAt: number | undefined;
  polls: number;
  /** Readings that were kept, as they told something new. */
  readings: number;
}

/** A tally of nothing yet. */
export function emptyWatchTally(): WatchTally {
  return { documents: new Map(), readAt: undefined, polls: 0, readings: 0 };
}

export interface WatchOptions extends Pick<RunOptions, "env" | "signal" | "log" | "now"> {
  /** Milliseconds from one poll to the next. */
  readonly interval: number;
  /** Milliseconds after which the watch ends although not every document is completed; never, if undefined. */
  readonly timeout?: number | undefined;
  readonly tally?: WatchTally;
  /** Told after every poll which documents are new or changed. */
  readonly onPoll?: (changed: readonly WatchedDocument[]) => void;
  /** Rejects, or not, when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}
