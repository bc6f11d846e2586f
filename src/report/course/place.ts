import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { ifAbsent } from "../../dump/files/is-there.js";
import { kindOf } from "../../dump/files/regular-file.js";
import { readRunFacts } from "../../dump/manifest/read-manifest.js";
import { UsageError } from "../../errors.js";
import { jobFolderOf } from "../job-folder.js";

/** The name of a report beside the runs of a job, and where no other is given. */
export const reportName = "report.html";

/** The file for the report of a run: beside the runs of its job, or in the current folder where the run lies elsewhere. */
export async function usualPlace(run: string): Promise<string> {
  const folder = await realpath(run);
  const facts = await readRunFacts(folder);
  const jobFolder = facts && jobFolderOf(folder, facts);
  return jobFolder === undefined ? reportName : join(relative(".", jobFolder), reportName);
}

/**
 * Refuses a place that no report can be written to, before any work: UsageError where its folder is not there, where it lies in
 * the folder of a run, which holds the files of its manifest and no other, and where something stands that is no file.
 */
export async function checkPlace(path: string): Promise<void> {
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
