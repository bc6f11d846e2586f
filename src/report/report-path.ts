import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { readRunFacts } from "../dump/read-manifest.js";
import { UsageError } from "../errors.js";
import { ifAbsent, kindOf } from "../files/files.js";
import { shellText } from "../shell-text.js";

/** The name of a report beside the runs of a job, and where no other is given. */
export const reportName = "report.html";

/** The file for the report of a run: beside the runs of its job, or in the current folder where the run lies elsewhere. */
export async function usualPath(run: string): Promise<string> {
  const folder = await realpath(run);
  const facts = await readRunFacts(folder);
  const jobFolder = facts && jobFolderOf(folder, facts);
  return jobFolder === undefined ? reportName : join(relative(".", jobFolder), reportName);
}

/**
 * Refuses a path that no report can be written to, before any work. UsageError if its folder does not exist, if it is inside a run
 * folder, which holds only the files of its manifest, or if something other than a file is there.
 */
export async function checkPath(path: string): Promise<void> {
  const facts = await stat(path).catch(ifAbsent(undefined));
  if (facts && !facts.isFile()) throw refusal(path, `it is ${kindOf(facts)}; name a file`);
  const folder = await realpath(dirname(resolve(path))).catch(ifAbsent(undefined));
  if (folder === undefined || !(await stat(folder)).isDirectory())
    throw refusal(path, "its folder does not exist; make it first");
  const run = await runAround(folder);
  if (run === undefined) return;
  const above = dirname(run);
  const instead = join(relative(".", basename(above) === "runs" ? dirname(above) : above), basename(path));
  throw refusal(
    path,
    `it lies in the folder of a run, to which nothing is added; name another place, such as ${instead}`,
  );
}

/** The folder of a run that a folder is, or lies in. */
async function runAround(folder: string): Promise<string | undefined> {
  if (await readRunFacts(folder)) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : runAround(above);
}

function refusal(path: string, message: string): UsageError {
  return new UsageError(`The report cannot be written to ${path}: ${message}`, [{ path, message }], []);
}

/** The folder of the job that a run folder lies in, `output/nightly` of `output/nightly/runs/<run_id>`; undefined where it lies elsewhere. */
function jobFolderOf(
  folder: string,
  { job, run_id }: { readonly job: string; readonly run_id: string },
): string | undefined {
  const runs = dirname(folder);
  const isOfJob = basename(folder) === run_id && basename(runs) === "runs" && basename(dirname(runs)) === job;
  return isOfJob ? dirname(runs) : undefined;
}

/** The words by which a command names a run, or the database of a job: the thing itself, and where its job lies. */
export interface RunName {
  readonly word: string;
  readonly flags: readonly string[];
}

/** Gives the name by which a user knows a folder: the address of the run that it is a copy of, or its path as it is. */
export type NameFolder = (folder: string) => string;

interface RunIds {
  readonly job: string;
  readonly run_id: string;
}

/**
 * Names a run folder for commands: `nightly@20261120T020000123Z` where it lies in the folder of its job, with `--out` where that is
 * not in `output`; by its address where it is a copy; else by the path of the folder, as seen from here.
 */
export function runName(folder: string, { job, run_id }: RunIds, nameFolder: NameFolder = (path) => path): RunName {
  const name = nameFolder(folder);
  if (name !== folder) return { word: name, flags: [] };
  const jobFolder = jobFolderOf(folder, { job, run_id });
  if (jobFolder === undefined) return { word: relative(".", folder) || ".", flags: [] };
  const dir = relative(".", dirname(jobFolder)) || ".";
  return { word: `${job}@${run_id}`, flags: dir === "output" ? [] : ["--out", dir] };
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
