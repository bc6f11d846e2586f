import { dirname, relative } from "node:path";
import { shellText } from "../shell-text.js";
import { jobFolderOf } from "./job-folder.js";

/** The words by which a command names a run, or the database of a job: the thing itself, and where its job lies. */
export interface RunName {
  readonly word: string;
  readonly flags: readonly string[];
}

/** Gives the name by which a user knows a folder: the address of the run that it is a copy of, or its path as it is. */
export type NameFolder = (folder: string) => string;

export interface RunIds {
  readonly job: string;
  readonly run_id: string;
}

/**
 * Names a run folder for commands: `nightly@20261120T020000123Z` where it lies in the folder of its job, with `--dir` where that is
 * not in `output`; by its address where it is a copy; else by the path of the folder, as seen from here.
 */
export function runName(folder: string, { job, run_id }: RunIds, nameFolder: NameFolder = (path) => path): RunName {
  const name = nameFolder(folder);
  if (name !== folder) return { word: name, flags: [] };
  const jobFolder = jobFolderOf(folder, { job, run_id });
  if (jobFolder === undefined) return { word: relative(".", folder) || ".", flags: [] };
  const dir = relative(".", dirname(jobFolder)) || ".";
  return { word: `${job}@${run_id}`, flags: dir === "output" ? [] : ["--dir", dir] };
}

/** Names the database of the job of a run: by the name of the job, or by the address of the job of a copy. */
export function databaseName(folder: string, ids: RunIds, nameFolder: NameFolder = (path) => path): RunName {
  const jobFolder = jobFolderOf(folder, ids);
  const name = jobFolder && nameFolder(jobFolder);
  if (name !== undefined && name !== jobFolder) return { word: name, flags: [] };
  return { word: ids.job, flags: runName(folder, ids).flags };
}

/** The command that asks a run, or the database of its job, for all rows of a statement; as a table it would print 1,000 of them. */
export function sqlCommand({ word, flags }: RunName, statement: string): string {
  return commandOf("sql", [word, statement, ...flags, "--format", "csv"]);
}

/** A command line of kbdump that a shell takes as it stands. */
export function commandOf(command: string, args: readonly string[]): string {
  return ["kbdump", command, ...args.map(shellText)].join(" ");
}
