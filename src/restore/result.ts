import { exitCodes } from "../errors.js";
import { listOf, orNull, result, text } from "../schema.js";
import type { DumpProgress } from "./target.js";

/** The members shared by the results of a restore and a copy. */
export const sharedMembers = {
  run: result({ folder: text, job: text, run_id: text }),
  base_url: text,
  journal: orNull(text),
  warnings: listOf(text),
};

/** The exit code of a restore or a copy. A plan exits with 0, even if it skips rows. */
export function exitCodeOf({ status }: { readonly status: string }): number {
  if (status === "different") return exitCodes.differences;
  return status === "partial" ? exitCodes.partial : exitCodes.complete;
}

const nothingDone = {
  ...{ documents: 0, documentsDone: 0, documentsFailed: 0 },
  /** Chunks to write, and how many are done with their children; then the same for the child chunks of a copy. */
  ...{ chunks: 0, chunksDone: 0, children: 0, childrenDone: 0 },
  /** Chunks waiting until the service accepts changes again. */
  waiting: 0,
  /** Write requests that a copy sent. */
  writes: 0,
};

/** The progress of a restore or a copy. A restore counts no documents. */
export type WriteProgress = typeof nothingDone & DumpProgress & { step: Step };
type Step =
  | "reading the run"
  | "reading the documents as they stand"
  | "asking the service"
  | "planning"
  | "writing"
  | "proving";

export function emptyWriteProgress(): WriteProgress {
  return { ...nothingDone, step: "reading the run", dump: undefined };
}
