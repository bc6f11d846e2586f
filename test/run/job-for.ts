import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Job } from "../../src/job/job.js";
import { loadJob } from "../../src/job/load-job.js";

/** A temporary folder, removed after the test. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The work folder of a run below `.work`, in its owner's folder. */
export async function workOf(hidden: string): Promise<string> {
  for (const owner of await readdir(hidden)) {
    const names = await readdir(join(hidden, owner)).catch((): string[] => []);
    const runId = names.find((name) => /^\d{8}T\d{9}Z$/.test(name));
    if (runId !== undefined) return join(hidden, owner, runId);
  }
  throw new Error(`no work of a run lies in ${hidden}`);
}

/**
 * A job, loaded from a file with this content (JSON is valid YAML); `output.dir` is in the folder. By default it reads
 * no details, because most tests do not need them and many count requests and files.
 */
export async function jobFor(folder: string, document: Record<string, unknown>): Promise<Job> {
  return loadJob({ file: await jobFile(folder, document) }, {}, {});
}

const defaults = { name: "test", details: false };

/** Writes the job file; returns its path. */
export async function jobFile(folder: string, document: Record<string, unknown>): Promise<string> {
  const { output, ...rest } = document;
  const path = join(folder, "job.yaml");
  const given = typeof output === "object" ? output : {};
  await writeFile(path, JSON.stringify({ ...defaults, output: { dir: join(folder, "out"), ...given }, ...rest }));
  return path;
}
