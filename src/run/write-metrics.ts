import { randomUUID } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ifAbsent, isThere } from "../dump/files/is-there.js";
import { readRegular } from "../dump/files/regular-file.js";
import { writeAside } from "../dump/files/write-aside.js";
import { readRunFacts } from "../dump/manifest/read-manifest.js";
import type { Job } from "../job/job.js";
import { renderMetrics } from "../notify/metrics-text.js";
import { metricsAfter } from "../notify/run-metrics.js";
import type { RunOutcome } from "../notify/run-outcome.js";
import { foldersOf, type Hold, type JobFolders, makeOwnFolder, refuseLinks } from "./work/job-folders.js";

/**
 * Replaces `metrics.prom` beside the runs of a job with what it is after this run, by a rename from the folder of the holder:
 * a run that was fenced does not write over the figures of its successor. A run that failed before it held the job, for want
 * of a key, say, uses a folder that the next holder fences, but makes none where there is nothing of the job yet. The file
 * that `output.metrics_file` names gets the same text.
 */
export async function writeMetrics(job: Job, outcome: RunOutcome, hold?: Pick<Hold, "own">): Promise<void> {
  const folders = foldersOf(job);
  if (hold) return replaceMetrics(folders, hold.own, job, outcome);
  await refuseLinks(folders);
  if (!(await isThere(folders.private))) return;
  const own = join(folders.private, `metrics.${randomUUID()}`);
  await makeOwnFolder(own);
  try {
    await replaceMetrics(folders, own, job, outcome);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function replaceMetrics({ folder }: JobFolders, own: string, job: Job, outcome: RunOutcome): Promise<void> {
  const path = join(folder, "metrics.prom");
  const before = (await readRegular(path).catch(ifAbsent(Buffer.alloc(0)))).toString("utf8");
  const isAsked = before === "" && outcome.status !== "complete"; // a complete run is the last success itself
  const success = isAsked ? await lastSuccess(folder) : undefined;
  const text = renderMetrics(metricsAfter(outcome, before, success));
  try {
    await writeAside(path, text, { aside: join(own, "metrics.prom"), isFlushed: false });
  } catch (error) {
    if (await isThere(own)) throw error;
    return; // another run took over, and tells of itself
  }
  const { metricsFile } = job.output;
  if (metricsFile !== undefined) await copyForAll(metricsFile, text);
}

/** A collector reads every *.prom of its folder at any moment, so the file is made under another name. */
async function copyForAll(path: string, text: string): Promise<void> {
  const aside = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  await writeAside(path, text, { aside, isFlushed: false, mode: 0o644 });
}

/** When the newest complete run ended, in milliseconds since 1970, where there are runs of a version without metrics. */
async function lastSuccess(folder: string): Promise<number | undefined> {
  const manifest = await realpath(join(folder, "latest"))
    .then(readRunFacts)
    .catch(() => undefined);
  const time = Date.parse(manifest?.finished_at ?? "");
  return Number.isNaN(time) ? undefined : time;
}
