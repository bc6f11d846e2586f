import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { databaseIn, type FoundDatabase } from "./found-database.js";
import { faultsOf, hashesOf } from "./published-files.js";

/** The state of `output/<job>`, as a reader sees it. */
export interface JobState {
  readonly folder: string;
  /** The names in `runs/`, sorted. */
  readonly runs: readonly string[];
  /** The runs that `kbdump verify` finds sound. */
  readonly sound: readonly string[];
  /** The sound runs that are complete. */
  readonly complete: readonly string[];
  /** The problems in the folders of `runs/`. */
  readonly faults: readonly string[];
  /** The run that `latest` points to, or a description of the problem. */
  readonly latest: { readonly run: string } | { readonly problem: string };
  readonly database: FoundDatabase;
  /** The names in `.work`. */
  readonly work: readonly string[];
  /** The hash of each file, by its path below `runs/`. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** Reads everything that is published; changes nothing. */
export async function readState(folder: string): Promise<JobState> {
  const inRuns = join(folder, "runs");
  const runs = (await readdir(inRuns)).sort();
  const found = await Promise.all(runs.map((run) => lookAt(join(inRuns, run))));
  return {
    folder,
    runs,
    sound: runs.filter((_, at) => found[at]?.faults.length === 0),
    complete: runs.filter((_, at) => found[at]?.faults.length === 0 && found[at]?.status === "complete"),
    faults: runs.flatMap((run, at) => (found[at]?.faults ?? []).map((fault) => `runs/${run}: ${fault}`)),
    latest: await latestIn(folder),
    database: await databaseIn(join(folder, `${basename(folder)}.duckdb`)),
    work: (await readdir(join(folder, ".work")).catch(() => [])).sort(),
    hashes: await hashesOf(inRuns),
  };
}

async function lookAt(run: string): Promise<{ readonly status: unknown; readonly faults: readonly string[] }> {
  const text = await readFile(join(run, "manifest.json"), "utf8").catch(() => undefined);
  if (text === undefined) return { status: undefined, faults: ["has no manifest.json"] };
  const faults = await faultsOf(run);
  const manifest: unknown = faults.length === 0 ? JSON.parse(text) : {};
  const status = typeof manifest === "object" && manifest && "status" in manifest ? manifest.status : undefined;
  return { status, faults };
}

async function latestIn(folder: string): Promise<JobState["latest"]> {
  const path = join(folder, "latest");
  const facts = await lstat(path).catch(() => undefined);
  if (!facts) return { problem: "there is no latest" };
  if (!facts.isSymbolicLink()) return { problem: "latest is no symbolic link" };
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) return { problem: "latest leads nowhere" };
  if (dirname(target) !== (await realpath(join(folder, "runs")))) return { problem: `latest leads to ${target}` };
  return { run: basename(target) };
}
