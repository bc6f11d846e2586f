import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../job/job.js";
import { renderMetrics } from "../notify/metrics-text.js";
import { metricsAfter } from "../notify/run-metrics.js";
import type { RunOutcome } from "../notify/run-outcome.js";
import { foldersOf, makeFolder, refuseLinks } from "./job-folders.js";

/**
 * Replaces `metrics.prom` beside the runs of a job, by rename, with what it is after this run. A run that failed before it
 * began makes no folder for it.
 */
export async function writeMetrics(job: Job, outcome: RunOutcome): Promise<void> {
  const folders = foldersOf(job);
  await refuseLinks(folders);
  if (outcome.runId === null && !existsSync(folders.private)) return;
  await makeFolder(folders.private);
  const path = join(folders.folder, "metrics.prom");
  const before = await readFile(path, "utf8").catch(() => "");
  const success = before === "" ? await lastSuccess(folders.folder) : undefined;
  const aside = join(folders.private, `metrics.${randomUUID()}`);
  try {
    await writeFile(aside, renderMetrics(metricsAfter(outcome, before, success)), { mode: 0o600, flag: "wx" });
    await rename(aside, path);
  } finally {
    await rm(aside, { force: true });
  }
}

/** When the newest complete run ended, in milliseconds since 1970, where there are runs of a version without metrics. */
async function lastSuccess(folder: string): Promise<number | undefined> {
  try {
    const { finished_at: finishedAt } = JSON.parse(await readFile(join(folder, "latest", "manifest.json"), "utf8"));
    const time = Date.parse(finishedAt);
    return Number.isNaN(time) ? undefined : time;
  } catch {
    return undefined;
  }
}
