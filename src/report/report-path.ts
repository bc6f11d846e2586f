import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Manifest } from "../dump/manifest.js";
import { readRunFacts } from "../dump/read-manifest.js";
import { UsageError } from "../errors.js";
import { ifAbsent, kindOf } from "../files/files.js";
import { shellText } from "../shell-text.js";

type RunIds = Pick<Manifest, "job" | "run_id">;

/** The default name of a report, and its name next to the runs of a job. */
export const reportName = "report.html";

/** The default path for the report of a run: next to the runs of its job, or in the current folder if the run was moved. */
export async function usualPath(run: string): Promise<string> {
  const folder = await realpath(run);
  const facts = await readRunFacts(folder);
  const jobFolder = facts && jobFolderOf(folder, facts);
  return jobFolder === undefined ? reportName : join(relative(".", jobFolder), reportName);
}

/**
 * Checks the path of a report before any work. Throws UsageError if its folder does not exist, if it is inside a run folder, which may
 * hold only the files in its manifest, or if the path exists but is not a file.
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

/** The run folder that is this folder or contains it; undefined if there is none. */
async function runAround(folder: string): Promise<string | undefined> {
  if (await readRunFacts(folder)) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : runAround(above);
}

function refusal(path: string, message: string): UsageError {
  return new UsageError(`The report cannot be written to ${path}: ${message}`, [{ path, message }], []);
}

/** The job folder of a run folder: `output/nightly` for `output/nightly/runs/<run_id>`; undefined if the run was moved. */
function jobFolderOf(folder: string, { job, run_id }: RunIds): string | undefined {
  const runs = dirname(folder);
  const isOfJob = basename(folder) === run_id && basename(runs) === "runs" && basename(dirname(runs)) === job;
  return isOfJob ? dirname(runs) : undefined;
}

/** Names a run or a job's database on a command line: an argument, and the flags that say where the job is. */
export interface RunName {
  readonly word: string;
  readonly flags: readonly string[];
}

/** Returns the name by which a user knows a folder: for a copy, the address of the original run; otherwise the path unchanged. */
export type NameFolder = (folder: string) => string;

/**
 * Names a run folder for commands: the address for a copy; `nightly@20261120T020000123Z` for a run in its job folder, with `--out` if
 * that is not in `output`; otherwise the relative path.
 */
export function runName(folder: string, { job, run_id }: RunIds, nameFolder: NameFolder = (path) => path): RunName {
  const name = nameFolder(folder);
  if (name !== folder) return { word: name, flags: [] };
  const jobFolder = jobFolderOf(folder, { job, run_id });
  if (jobFolder === undefined) return { word: relative(".", folder) || ".", flags: [] };
  const dir = relative(".", dirname(jobFolder)) || ".";
  return { word: `${job}@${run_id}`, flags: dir === "output" ? [] : ["--out", dir] };
}

/** Names the database of a run's job for commands: the address of the job for a copy; otherwise the job name. */
export function databaseName(folder: string, ids: RunIds, nameFolder: NameFolder = (path) => path): RunName {
  const jobFolder = jobFolderOf(folder, ids);
  const name = jobFolder && nameFolder(jobFolder);
  const isNamed = name !== undefined && name !== jobFolder;
  return isNamed ? { word: name, flags: [] } : { word: ids.job, flags: runName(folder, ids).flags };
}

/**
 * The command for a statement, whose strings must not contain line breaks. It prints CSV, because a table is limited to 1,000 rows.
 */
export function sqlCommand({ word, flags }: RunName, statement: string): string {
  return commandOf("sql", [word, statement.replace(/\s+/g, " "), ...flags, "--format", "csv"]);
}

/** A kbdump command line, quoted for a shell. */
export function commandOf(command: string, args: readonly string[]): string {
  return ["kbdump", command, ...args.map(shellText)].join(" ");
}
