import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job } from "../job/job.js";
import { emptyHead, headFrom, headKey } from "./bucket/head.js";
import { openBucket } from "./bucket/open-bucket.js";
import { foldersOf, shownPath } from "./folder/job-folders.js";
import type { JobOptions } from "./open-job.js";
import { fetchManifests } from "./remote.js";

/**
 * Gives `work` a folder with the manifests of the runs that the bucket of a job lists, for as long as it takes. Nothing is held, and
 * nothing in the bucket changes.
 */
export async function withListedRuns<T>(
  job: Job,
  { env, log, signal }: Pick<JobOptions, "env" | "log" | "signal">,
  work: (runs: string) => Promise<T>,
): Promise<T> {
  const bucket = await openBucket(shownPath(job, foldersOf(job).folder), { env, signal });
  const folder = await mkdtemp(join(tmpdir(), "kbdump-runs-"));
  try {
    const found = await bucket.read(headKey);
    const head = found ? headFrom(found.bytes, `${bucket.url}/${headKey}`) : emptyHead;
    const [aside, target] = [join(folder, "aside"), join(folder, "runs")];
    for (const path of [aside, target]) await mkdir(path, { mode: 0o700 });
    await fetchManifests(bucket, head.runs, { aside, target, log, signal });
    return await work(target);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await bucket.close();
  }
}
