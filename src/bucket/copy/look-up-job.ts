import { basename, join } from "node:path";
import { UsageError } from "../../errors.js";
import { makeFolder } from "../../run/work/job-folders.js";
import type { Bucket, Found } from "../bucket.js";
import { headFrom, headKey } from "../head.js";
import { cacheFrom, folderInCache, writingCache } from "./cache.js";
import { copyManifests } from "./copy-manifests.js";
import { asideName, type CopyOptions, type JobCopy, withBucket } from "./job-copy.js";
import { removeLeftovers } from "./leftovers.js";

/**
 * Looks up a job in a bucket, and brings the manifests of the runs that its head lists into the cache. `url`: `s3://bucket/prefix/<job>`.
 * UsageError, with the jobs that are there, where there is no such job.
 */
export async function lookUpJob(url: string, options: CopyOptions): Promise<JobCopy> {
  const cache = cacheFrom(options.env);
  return withBucket(url, options, async (bucket) => {
    const found = await bucket.read(headKey);
    if (!found) throw await noJob(bucket.url, options);
    const folder = folderInCache(cache, bucket.url);
    const head = headFrom(found.bytes, `${bucket.url}/${headKey}`);
    const job: JobCopy = { url: bucket.url, job: basename(folder), head, age: found.age, cache, folder, options };
    await writingCache(cache, async () => {
      await makeFolder(join(folder, "runs"));
      await removeLeftovers(join(folder, asideName));
      await copyManifests(bucket, job);
    });
    return job;
  });
}

/** The head of a job as it is now; undefined where the job is gone. */
export async function readHead(bucket: Bucket) {
  const found: Found | undefined = await bucket.read(headKey);
  return found && headFrom(found.bytes, `${bucket.url}/${headKey}`);
}

/** The names of the jobs at a place, in order. */
export async function jobsInBucket(url: string, options: CopyOptions): Promise<readonly string[]> {
  return withBucket(url, options, async (bucket) => {
    const jobs: string[] = [];
    for await (const name of bucket.folders("")) if (await bucket.look(`${name}/${headKey}`)) jobs.push(name);
    return jobs;
  });
}

/** The error of a place without a job. It says what is there instead. */
async function noJob(url: string, options: CopyOptions): Promise<UsageError> {
  const message = `there is no ${headKey} in it; ${await insteadOf(url, options)}`;
  return new UsageError("No such run or job:", [{ path: url, message }]);
}

/** The shards that nobody joined yet, the jobs below a place that is their prefix, or the jobs beside the place. */
async function insteadOf(url: string, options: CopyOptions): Promise<string> {
  const shards = await jobsInBucket(`${url}/shards`, options);
  if (shards.length > 0) return `it has shards only; kbdump join ${url} makes a run of them`;
  const below = await jobsInBucket(url, options);
  const above = url.slice(0, url.lastIndexOf("/"));
  const [place, jobs] = below.length > 0 ? [url, below] : [above, await jobsInBucket(above, options)];
  const more = jobs.length > 10 ? ` and ${jobs.length - 10} more` : "";
  return jobs.length > 0 ? `jobs in ${place}: ${jobs.slice(0, 10).join(", ")}${more}` : `no job is in ${place}`;
}
