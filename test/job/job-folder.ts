import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { type Problem, UsageError } from "../../src/errors.js";
import type { Job } from "../../src/job/job.js";
import { loadJob } from "../../src/job/load-job.js";
import type { JobFlags } from "../../src/job/merge-flags.js";

export const dataset = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";
export const otherDataset = "0d9c8b7a-6f5e-4d3c-9b2a-1f0e9d8c7b6a";
export const document = "a8e0d1c2-b3a4-4958-8677-665544332211";
export const otherDocument = "1b2c3d4e-5f60-4718-92a3-b4c5d6e7f809";

/** The shortest valid job. */
export const smallJob = {
  service: { base_url: "https://kb.example.com/v1" },
  datasets: [{ id: dataset, documents: [document] }],
};

export interface Given {
  readonly flags?: JobFlags;
  readonly env?: NodeJS.ProcessEnv;
  readonly name?: string;
}

/** A folder for the job files of one test file; removed after its tests. */
export async function jobFolder() {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-job-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const write = async (text: string | Uint8Array, name = "nightly.yaml"): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const load = async (job: unknown, { flags = {}, env = {}, name }: Given = {}): Promise<Job> => {
    const file = await write(typeof job === "string" ? job : JSON.stringify(job), name);
    return loadJob({ file }, flags, env);
  };
  const problems = async (job: unknown, given: Given = {}) => problemTexts(load(job, given));
  return { folder, write, load, problems };
}

/** Returns the problems in a UsageError, one per line; the promise must reject with one. */
export async function problemTexts(promise: Promise<unknown>): Promise<readonly string[]> {
  return (await usageError(promise)).problems.map(({ path, message }: Problem) =>
    path ? `${path}: ${message}` : message,
  );
}

export async function usageError(promise: Promise<unknown>): Promise<UsageError> {
  const outcome = await promise.then(
    (value) => `ended well: ${JSON.stringify(value)}`,
    (error: unknown) => error,
  );
  if (outcome instanceof UsageError) return outcome;
  throw outcome instanceof Error ? outcome : new Error(String(outcome));
}
