import type { RunTally } from "../run/setting/run-tally.js";

/** The steps of a restore, in their order. */
export type RestoreStep =
  | "reading the run"
  | "reading the documents as they stand"
  | "planning"
  | "writing"
  | "proving";

/** How far a restore is. */
export interface RestoreTally {
  step: RestoreStep;
  /** Chunks that the plan changes, or whose children it changes, and those of them that are done. */
  chunks: number;
  chunksDone: number;
  /** Chunks that wait until the service takes changes of them. */
  waiting: number;
  /** The dump that is being made of the documents; undefined while there is none. */
  dump: RunTally | undefined;
}

/** A tally of nothing yet. */
export function emptyRestoreTally(): RestoreTally {
  return { step: "reading the run", chunks: 0, chunksDone: 0, waiting: 0, dump: undefined };
}
