import { randomUUID } from "node:crypto";
import { readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "../../dump/files/is-there.js";
import { fingerprint } from "../../dump/files/join-parts.js";
import { manifestName } from "../../dump/manifest/manifest.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import { makeFolder } from "../../run/work/job-folders.js";
import type { Bucket } from "../bucket.js";
import type { BucketRun } from "../head.js";
import { fetchAside } from "./fetch-aside.js";
import { isInUse } from "./in-use.js";
import type { JobCopy } from "./job-copy.js";

/**
 * Brings the manifests of all listed runs, and `latest`, up to date, and removes copies of runs that are not listed any more. A run whose
 * manifest is damaged has none in the cache, and the other runs can be read; a warning says so.
 */
export async function copyManifests(bucket: Bucket, job: JobCopy): Promise<void> {
  const { runs, latest } = job.head;
  const wanted: BucketRun[] = [];
  for (const run of runs) if (!(await hasManifest(job, run))) wanted.push(run);
  for (const { run_id } of wanted) {
    await makeFolder(join(job.folder, "runs", run_id));
    await rm(join(job.folder, "runs", run_id, manifestName), { force: true });
  }
  await fetchAside(bucket, job, {
    step: "reading manifests",
    files: wanted.map(({ run_id, folder, manifest }) => ({
      key: `${folder}/${manifestName}`,
      path: join(job.folder, "runs", run_id, manifestName),
      ...manifest,
    })),
    onDamaged: (_manifest, { message }) => job.options.log("warn", message),
  });
  await removeOthers(job);
  await pointLatest(job, latest);
}

/** Whether the manifest of a run is there as its head says; a damaged one is not. */
async function hasManifest(job: JobCopy, { run_id, manifest }: BucketRun): Promise<boolean> {
  const found = await fingerprint(join(job.folder, "runs", run_id, manifestName)).catch(ifAbsent(undefined));
  return found?.sha256 === manifest.sha256;
}

/** A run that another command reads just now stays until it is no longer used. */
async function removeOthers({ folder, head }: JobCopy): Promise<void> {
  const listed = new Set(head.runs.map(({ run_id }) => run_id));
  const names = (await readdir(join(folder, "runs"))).filter((name) => isRunId(name) && !listed.has(name));
  for (const name of names) {
    const path = join(folder, "runs", name);
    if (!(await isInUse(join(path, manifestName)))) await rm(path, { recursive: true, force: true });
  }
}

async function pointLatest({ folder }: JobCopy, latest: string | null): Promise<void> {
  const path = join(folder, "latest");
  if (latest === null) return rm(path, { force: true });
  const target = join("runs", latest);
  if ((await readlink(path).catch(ifAbsent(undefined))) === target) return;
  const aside = join(folder, `.latest-${randomUUID()}`);
  await symlink(target, aside);
  await rename(aside, path);
}
