import type { ReadProgress } from "../read-progress.js";
import type { NameFolder } from "./report-path.js";

/** All settings of a report. */
export interface ReportOptions {
  /** Folder of the run. */
  readonly folder: string;
  /** Folder of an older run, to show what was lost since; undefined: nothing is compared. */
  readonly against: string | undefined;
  /** The database of the job, for its history; undefined: the one beside the folder of runs, if it is there. */
  readonly database: string | undefined;
  /** Whether texts are shown: contents, names and errors. */
  readonly content: boolean;
  /** Whether every file of the run is read again and checked. */
  readonly verify: boolean;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
  /** Names folders in the commands of the page; undefined: by their paths. */
  readonly nameFolder: NameFolder | undefined;
  readonly signal: AbortSignal;
  /** Updated while the work goes on. */
  readonly progress: ReadProgress;
}

/** The report that is asked for: the folder of a run, and any of the settings; by default all texts, verified, compared with nothing. */
export type ReportRequest = Pick<ReportOptions, "folder"> & Partial<ReportOptions>;
