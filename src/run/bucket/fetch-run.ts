import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Bucket } from "../../bucket/bucket.js";
import type { BucketRun, Head } from "../../bucket/head.js";
import { manifestName } from "../../dump/manifest/manifest.js";
import { readManifest } from "../../dump/manifest/read-manifest.js";
import { StopError } from "../../errors.js";
import { forEachOf } from "../work/for-each-of.js";
import { makeOwnFolder } from "../work/job-folders.js";

/** Files on their way at once. */
const atOnce = 4;

/** Writes the manifest and the rows of a run into a new folder, without its originals. StopError where the run is not whole. */
export async function fetchRun(
  bucket: Bucket,
  head: Head,
  runId: string,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const run = head.runs.find(({ run_id }) => run_id === runId);
  if (!run) throw new StopError(`${bucket.url} has no run ${runId}`);
  await fetchManifest(bucket, run, folder, signal);
  const { manifest, problems } = (await readManifest(folder)) ?? { problems: ["is not there"] };
  if (!manifest) throw new StopError(`${bucket.url}/${run.folder}/${manifestName} ${problems.join("; ")}`);
  await forEachOf(manifest.files, atOnce, async ({ path, bytes, sha256 }) => {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await bucket.fetchFile(`${run.folder}/${path}`, join(folder, path), { bytes, sha256 }, { signal });
  });
}

/** Writes the manifest of a run into a new folder. */
export async function fetchManifest(
  bucket: Bucket,
  { folder: from, manifest }: BucketRun,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  await makeOwnFolder(folder);
  await bucket.fetchFile(`${from}/${manifestName}`, join(folder, manifestName), manifest, { signal });
}
