import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Bucket } from "../../bucket/bucket.js";
import { DamagedError } from "../../bucket/fetch-file.js";
import type { BucketRun, Head } from "../../bucket/head.js";
import { fingerprint } from "../../dump/files/join-parts.js";
import { manifestName } from "../../dump/manifest/manifest.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import type { Log } from "../../log.js";
import { forEachOf } from "../work/for-each-of.js";
import { type Hold, makeOwnFolder } from "../work/job-folders.js";
import { removeFrom } from "../work/remove-from.js";
import { fetchManifest } from "./fetch-run.js";

/** Manifests on their way at once. */
const atOnce = 8;

/** Makes the runs of the work folder those that the head lists: the manifest of each is there, unless it is damaged, and no other run is. */
export async function bringManifests(
  bucket: Bucket,
  head: Head,
  hold: Hold,
  { log, signal }: Pick<Places, "log" | "signal">,
): Promise<void> {
  const listed = new Map(head.runs.map((run) => [run.run_id, run]));
  for (const runId of (await readdir(hold.runs)).filter(isRunId)) {
    const run = listed.get(runId);
    if (run && (await hasManifestOf(join(hold.runs, runId), run))) listed.delete(runId);
    else await removeFrom(hold, join(hold.runs, runId));
  }
  const aside = join(hold.own, "manifests");
  await rm(aside, { recursive: true, force: true });
  await makeOwnFolder(aside);
  await fetchManifests(bucket, [...listed.values()], { aside, target: hold.runs, log, signal });
  await rm(aside, { recursive: true, force: true });
}

interface Places {
  /** The folder in which each run folder is made before it gets its name. */
  readonly aside: string;
  readonly target: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Writes a folder with the manifest for each of these runs; an empty one, with a warning, where it is damaged. */
export async function fetchManifests(
  bucket: Bucket,
  runs: readonly BucketRun[],
  { aside, target, log, signal }: Places,
): Promise<void> {
  await forEachOf(runs, atOnce, async (run) => {
    await fetchManifest(bucket, run, join(aside, run.run_id), signal).catch((error: unknown) => {
      if (!(error instanceof DamagedError)) throw error;
      log("warn", `run ${run.run_id} is damaged, and stays as it is: ${error.message}`);
    });
    await rename(join(aside, run.run_id), join(target, run.run_id));
  });
}

async function hasManifestOf(folder: string, { manifest }: BucketRun): Promise<boolean> {
  const found = await fingerprint(join(folder, manifestName)).catch(() => undefined);
  return found?.sha256 === manifest.sha256;
}
