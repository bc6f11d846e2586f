import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isAbsence } from "../dump/files/is-there.js";
import type { RunFacts } from "../dump/manifest/manifest.js";
import { manifestFormats, manifestName } from "../dump/manifest/manifest.js";
import { readRunFacts } from "../dump/manifest/read-manifest.js";
import { isRestoreFolder, timeOfRun } from "../dump/manifest/run-id.js";
import type { PastRun } from "./decide-runs.js";

/** A run of a job as it lies in its folder; null stands for what its manifest does not say. */
export interface RunFolder extends PastRun {
  /** Milliseconds since 1970. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly counts: RunFacts["counts"];
  /** The size of its files according to its manifest. */
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
  for (const name of names.filter((name) => !isRestoreFolder(name)).sort()) {
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
  const manifest = await readRunFacts(join(folder, name));
  if (!manifest)
    return (await hasManifest(join(folder, name))) ? "its manifest.json cannot be read" : "it has no manifest.json";
  const { format, job: itsJob, run_id: runId, status, files, originals, counts } = manifest;
  if (!manifestFormats.some((known) => known === format))
    return `its manifest.json has format ${format}, which this version does not know`;
  if (itsJob !== job) return "it is a run of another job";
  if (runId !== name) return "its manifest.json is that of another run";
  return {
    runId,
    status,
    startedAt: timeFrom(manifest.started_at),
    finishedAt: timeFrom(manifest.finished_at),
    counts,
    bytes: [...files, ...originals].reduce((sum, { bytes }) => sum + bytes, 0),
    isEmpty: counts.documents === 0,
  };
}

function timeFrom(text: string): number | null {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

async function hasManifest(folder: string): Promise<boolean> {
  return lstat(join(folder, manifestName)).then(
    () => true,
    (error: unknown) => !isAbsence(error),
  );
}
