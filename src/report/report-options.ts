import type { ReadProgress } from "../read-progress.js";
import type { NameFolder } from "./report-path.js";

/** All settings of a report. */
export interface ReportOptions {
  /** The run folder. */
  readonly folder: string;
  /** The folder of an older run, to show the losses since then; undefined: no comparison. */
  readonly against: string | undefined;
  /** The job's database, for its history; undefined: the database next to the folder of runs, if there is one. */
  readonly database: string | undefined;
  /** Whether to show texts: contents, names and errors. */
  readonly content: boolean;
  /** Whether to read and check every file of the run again. */
  readonly verify: boolean;
  /** The maximum memory of DuckDB, such as `800MB`. */
  readonly memory: string;
  /** Names folders in the page's commands; undefined: use their paths. */
  readonly nameFolder: NameFolder | undefined;
  readonly signal: AbortSignal;
  /** Updated during the work. */
  readonly progress: ReadProgress;
}

/** The run folder and any other settings. By default, the report shows all texts, verifies the run and compares it with no other. */
export type ReportRequest = Pick<ReportOptions, "folder"> & Partial<ReportOptions>;
