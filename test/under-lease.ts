import type { Job } from "../src/job/job.js";
import { type JobOptions, type Lease, leaseFolder, leaseJob } from "../src/store/lease.js";

/** Does work under the lease of a job folder; rejects like a run. */
export async function underLease<T>(
  job: Pick<Job, "name" | "output">,
  options: Pick<JobOptions, "now" | "log">,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  return under(await leaseFolder(job, options), work);
}

/** Does work under the lease of a job whose output may be in a bucket. */
export async function underJobLease<T>(job: Job, options: JobOptions, work: (lease: Lease) => Promise<T>): Promise<T> {
  return under(await leaseJob(job, options), work);
}

async function under<T>(opened: Lease, work: (lease: Lease) => Promise<T>): Promise<T> {
  await using lease = opened;
  try {
    return await work(lease);
  } catch (error) {
    throw await lease.explain(error);
  }
}
