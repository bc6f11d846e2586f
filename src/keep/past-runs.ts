import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PastRun } from "./decide-runs.js";
import { timeOfRun } from "./period.js";

/** A run of a job as it lies in its folder. */
export interface RunFolder extends PastRun {
  /** Of its files, as its manifest has them. */
  readonly bytes: number;
}

/** Something in the folder of runs that is no run of the job, and why not. Nobody touches it. */
export interface Stranger {
  readonly name: string;
  readonly why: string;
}

export interface PastRuns {
  readonly runs: readonly RunFolder[];
  readonly strangers: readonly Stranger[];
}

/** Reads what lies in the folder of a job's runs. A run is a folder, no link, with a manifest that says the same of it. */
export async function readPastRuns(folder: string, job: string): Promise<PastRuns> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const [runs, strangers]: [RunFolder[], Stranger[]] = [[], []];
  for (const name of names.sort()) {
    const found = await runFrom(folder, name, job); // one after the other: a manifest can have many MB
    if (typeof found === "string") strangers.push({ name, why: found });
    else runs.push(found);
  }
  return { runs, strangers };
}

/** The run, or why it is none. */
async function runFrom(folder: string, name: string, job: string): Promise<RunFolder | string> {
  if (timeOfRun(name) === undefined) return "its name is no run id";
  const facts = await lstat(join(folder, name));
  if (facts.isSymbolicLink()) return "it is a symbolic link";
  if (!facts.isDirectory()) return "it is no folder";
  const path = join(folder, name, "manifest.json");
  const isFile = await lstat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
  if (!isFile) return "it has no manifest.json";
  const manifest = manifestFrom(await readFile(path, "utf8").catch(() => ""));
  if (!manifest) return "its manifest.json cannot be read";
  if (manifest.job !== job) return "it is a run of another job";
  return manifest.runId === name ? manifest : "its manifest.json is that of another run";
}

function manifestFrom(text: string): (RunFolder & { readonly job: unknown }) | undefined {
  try {
    const { format, job, run_id: runId, status, files, counts } = JSON.parse(text);
    if (format !== 1 || (status !== "complete" && status !== "partial") || typeof runId !== "string") return undefined;
    const bytes = Array.isArray(files) ? files.reduce((sum: number, file) => sum + (Number(file?.bytes) || 0), 0) : 0;
    return { job, runId, status, bytes, isEmpty: counts?.documents === 0 };
  } catch {
    return undefined;
  }
}
