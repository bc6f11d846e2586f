/** What lies at a path: the folder of a run, the folder of a job, another folder, a file, or nothing. */
export type Found = "run" | "job" | "folder" | "file" | "nothing";

/** What a word on the command line stands for. `run` is the id of a run of that job, or its beginning. */
export type Meaning =
  | { readonly kind: "run folder"; readonly folder: string }
  | { readonly kind: "job folder"; readonly folder: string; readonly run?: string }
  | { readonly kind: "job file"; readonly file: string; readonly run?: string }
  | { readonly kind: "job"; readonly name: string; readonly run?: string }
  | { readonly kind: "database"; readonly file: string }
  | { readonly kind: "unknown" };

/** What lies at the path that a word is, at the path before its `@`, and at the folder that a job of that name would have. */
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

/** Whether a word can be the name of a job. */
export function isJobName(word: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,99}$/.test(word);
}

/**
 * Decides what a word stands for. A path comes first: the folder of a run, the folder of a job, a job file (by its ending), any
 * other file as a database. The name of a job comes second. A folder that is neither of a run nor of a job hides no name.
 */
export function meaningOf({ text, before, run }: Word, { whole, before: found, job }: Sights): Meaning {
  if (whole !== "nothing" && whole !== "folder") return pathMeaning(text, whole, undefined);
  if (run !== undefined && (found === "job" || (found === "file" && isJobFile(before))))
    return pathMeaning(before, found, run);
  if (job === "job" && isJobName(before)) return { kind: "job", name: before, ...(run === undefined ? {} : { run }) };
  return { kind: "unknown" };
}

function pathMeaning(path: string, found: "run" | "job" | "file", run: string | undefined): Meaning {
  const which = run === undefined ? {} : { run };
  if (found === "run") return { kind: "run folder", folder: path };
  if (found === "job") return { kind: "job folder", folder: path, ...which };
  return isJobFile(path) ? { kind: "job file", file: path, ...which } : { kind: "database", file: path };
}

function isJobFile(path: string): boolean {
  return /\.(ya?ml|json)$/i.test(path);
}
