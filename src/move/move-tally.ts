import type { RunTally } from "../run/setting/run-tally.js";

/** The steps of a move, in their order. */
export type MoveStep = "reading the run" | "asking the service" | "writing" | "proving";

/** How far a move is. */
export interface MoveTally {
  step: MoveStep;
  documents: number;
  documentsDone: number;
  documentsFailed: number;
  /** Chunks to bring, and those of them that are there with their children. */
  chunks: number;
  chunksDone: number;
  /** Write requests sent. */
  writes: number;
  /** The dump that is being made of the documents; undefined while there is none. */
  dump: RunTally | undefined;
}

/** A tally of nothing yet. */
export function emptyMoveTally(): MoveTally {
  return {
    step: "reading the run",
    ...{ documents: 0, documentsDone: 0, documentsFailed: 0, chunks: 0, chunksDone: 0, writes: 0 },
    dump: undefined,
  };
}
