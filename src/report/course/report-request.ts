import { emptyReadTally } from "../../read-tally.js";
import type { ReportOptions } from "../report-options.js";

/** The report that is asked for: the folder of a run, and any of the settings; by default all texts, verified, compared with nothing. */
export type ReportRequest = Pick<ReportOptions, "folder"> & Partial<ReportOptions>;

/** The settings with their defaults. */
export function withReportDefaults({ folder, against, database, ...request }: ReportRequest): ReportOptions {
  return {
    folder,
    against,
    database,
    content: request.content ?? true,
    verify: request.verify ?? true,
    nameFolder: request.nameFolder,
    memory: request.memory ?? "800MB",
    signal: request.signal ?? new AbortController().signal,
    tally: request.tally ?? emptyReadTally(),
  };
}
