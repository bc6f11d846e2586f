import type { IdSet } from "../../crawl/id-set.js";
import type { LookAhead } from "../../crawl/look-ahead.js";
import type { TextFormat } from "../../dump/formats/format.js";
import type { Job } from "../../job/job.js";
import type { SharedParts } from "../parts/shared-parts.js";
import type { RunTally } from "../setting/run-tally.js";
import type { DocumentResult, ReadSoFar } from "./document-result.js";

/** How the documents of a run are read, and where their parts lie. */
export interface DumpOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  /** The folder of the parts. */
  readonly parts: string;
  /** Keeps complete documents that are small, several in one file; undefined: every document has files of its own. */
  readonly shared?: SharedParts<DocumentResult> | undefined;
  /** Names of the documents of which an earlier process left files there. */
  readonly begun: ReadonlySet<string>;
  readonly lookAhead: LookAhead;
  readonly tally: RunTally;
  /** Read documents again that an earlier process could not read whole. */
  readonly retryFailed: boolean;
}

/** The place where an earlier process stopped, and the ids of the chunks that it read. */
export interface Earlier {
  readonly read: ReadSoFar;
  readonly ids: IdSet;
}
