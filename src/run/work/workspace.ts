import { join } from "node:path";
import type { Hold } from "./job-folders.js";

/** The folders of a run that is at work, below `output/<job>/.work/<token>/<run_id>`. */
export interface Workspace extends Hold {
  readonly runId: string;
  /** The start of the run that began this work: an earlier one, if it is continued. */
  readonly startedAt: Date;
  readonly work: string;
  /** Parts, one file per document, kind and text format. */
  readonly parts: string;
  /** The folder that becomes the run folder. */
  readonly stage: string;
  /** Files that are needed while the dump is made: JSONL that is not published, DuckDB's spill, the new database. */
  readonly scratch: string;
}

/** The folders of a run below that of its holder; makes none. */
export function workspaceIn(hold: Hold, runId: string): Omit<Workspace, "startedAt"> {
  const work = join(hold.own, runId);
  const [parts, stage, scratch] = [join(work, "parts"), join(work, "stage"), join(work, "scratch")];
  return { ...hold, runId, work, parts, stage, scratch };
}
