import type { LookAhead } from "../crawl/look-ahead.js";
import type { Job } from "../job/job.js";
import type { TextFormat } from "../sinks/sink.js";
import type { RunTally } from "./run-tally.js";

/** How the documents of a run are read, and where their parts lie. */
export interface DumpOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  /** The folder of the parts. */
  readonly parts: string;
  /** Names of the documents of which an earlier process left something there. */
  readonly begun: ReadonlySet<string>;
  readonly lookAhead: LookAhead;
  readonly tally: RunTally;
  /** Read documents again that an earlier process could not read whole. */
  readonly retryFailed: boolean;
}
