import type { Finding } from "./findings.js";

/** The result of `verifyRun`. */
export interface Verification {
  readonly status: "sound" | "differences";
  /** Differences found: of each kind the first 20 and a count of the rest. Texts are not safe for a terminal. */
  readonly findings: readonly Finding[];
  /** How many there are, those that are not told included. */
  readonly finding_count: number;
  readonly checked: Checked;
}

/** The rows and files that were checked. */
export interface Checked {
  readonly folder: string;
  /** Null when the manifest could not be taken. */
  readonly run_id: string | null;
  readonly files: number;
  readonly documents: number;
  readonly chunks: number;
  readonly child_chunks: number;
  /** Files that documents were made from, and files attached to chunks; null when the run saved none. */
  readonly originals: number | null;
  readonly attachments: number | null;
  /** Null when it was not asked for, or could not be opened. */
  readonly database: CheckedDatabase | null;
  /** Checks that were not possible, and why. */
  readonly notes: readonly string[];
}

export interface CheckedDatabase {
  readonly path: string;
  /** Documents whose rows were compared. */
  readonly documents: number;
  /** Documents that a later run has read since. */
  readonly read_later: number;
  /** Documents that were unstable in this run, of which the database keeps an earlier, complete state. */
  readonly passed_over: number;
}
