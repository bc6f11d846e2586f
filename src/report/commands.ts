import { dirname, relative } from "node:path";
import { shellText } from "../shell-text.js";
import { jobFolderOf } from "./job-folder.js";

/** The words by which a command names a run: the run itself, and where its job lies. */
export interface RunName {
  readonly word: string;
  readonly flags: readonly string[];
}

/**
 * Names a run folder for commands: `nightly@20261120T020000123Z` where it lies in the folder of its job, with `--dir` where that is
 * not in `output`; else the path of the folder, as seen from here.
 */
export function runName(folder: string, { job, run_id }: { readonly job: string; readonly run_id: string }): RunName {
  const jobFolder = jobFolderOf(folder, { job, run_id });
  if (jobFolder === undefined) return { word: relative(".", folder) || ".", flags: [] };
  const dir = relative(".", dirname(jobFolder)) || ".";
  return { word: `${job}@${run_id}`, flags: dir === "output" ? [] : ["--dir", dir] };
}

/** The command that asks a run, or the database of its job, for all rows of a statement; as a table it would print 1,000 of them. */
export function sqlCommand({ word, flags }: RunName, statement: string): string {
  return commandOf("sql", [word, statement, ...flags, "--format", "csv"]);
}

/** A command line of kbdump that a shell takes as it stands. */
export function commandOf(command: string, args: readonly string[]): string {
  return ["kbdump", command, ...args.map(shellText)].join(" ");
}
