import { isJobName } from "../job/job-name.js";

/**
 * The kinds of things at a path: the folder of a run, the folder of a job, one of a job that has published nothing yet, another folder, a
 * job file (by its ending), a database, something else, or nothing.
 */
export type Found = "run" | "job" | "begun" | "folder" | "job file" | "database" | "other" | "nothing";

/** The meaning of a word on the command line. `run` is the id of a run of that job, or its beginning. */
export type Meaning =
  | { readonly kind: "run folder"; readonly folder: string }
  | { readonly kind: "job folder"; readonly folder: string; readonly run?: string }
  | { readonly kind: "job file"; readonly file: string; readonly run?: string }
  | { readonly kind: "job"; readonly name: string; readonly run?: string }
  | { readonly kind: "database"; readonly file: string }
  | { readonly kind: "unknown" };

/** The things at the path that a word is, at the path before its `@`, and at the folder that a job of that name would have. */
export interface Sights {
  readonly whole: Found;
  readonly before: Found;
  readonly job: Found;
}

/** A word in its parts: `nightly@20261120` names a run of `nightly`. */
export interface Word {
  readonly text: string;
  readonly before: string;
  readonly run: string | undefined;
}

/** Takes a word apart. What stands behind `@` is an id of a run, or the beginning of one, from the day on. */
export function wordFrom(text: string): Word {
  const [, before = text, run] = /^(.+)@(\d{8}(?:T\d{0,9}Z?)?)$/.exec(text) ?? [];
  return { text, before, run };
}

/**
 * Decides what a word stands for. A path comes first: the folder of a run, the folder of a job, a job file (by its ending), a
 * database. The name of a job comes second. Any other file or folder hides no name.
 */
export function meaningOf({ text, before, run }: Word, { whole, before: found, job }: Sights): Meaning {
  const which = run === undefined ? {} : { run };
  if (whole === "run") return { kind: "run folder", folder: text };
  if (whole === "database") return { kind: "database", file: text };
  if (whole === "job") return { kind: "job folder", folder: text };
  if (whole === "job file") return { kind: "job file", file: text };
  if (run !== undefined && found === "job") return { kind: "job folder", folder: before, run };
  if (run !== undefined && found === "job file") return { kind: "job file", file: before, run };
  if ((job === "job" || job === "begun") && isJobName(before)) return { kind: "job", name: before, ...which };
  return whole === "begun" ? { kind: "job folder", folder: text } : { kind: "unknown" };
}
