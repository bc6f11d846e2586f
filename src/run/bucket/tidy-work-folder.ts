import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { manifestName } from "../../dump/manifest/manifest.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import { pendingDatabase } from "../work/fence.js";
import type { Hold } from "../work/job-folders.js";
import { removeFrom } from "../work/remove-from.js";

/**
 * Leaves the manifests alone of the runs in the work folder: the bucket has the rest. The originals of the newest run stay, because the
 * next run takes those from there that are unchanged.
 */
export async function stripRuns(hold: Hold): Promise<void> {
  const runIds = (await readdir(hold.runs)).filter(isRunId).sort();
  for (const runId of runIds) {
    const needed = [manifestName, ...(runId === runIds.at(-1) ? ["originals"] : [])];
    const folder = join(hold.runs, runId);
    const names = (await readdir(folder)).filter((name) => !needed.includes(name));
    for (const name of names) await removeFrom(hold, join(folder, name));
  }
}

/** Removes databases that an earlier run built and did not publish: the one in the bucket may have changed since. */
export async function forgetBuilt(hold: Hold): Promise<void> {
  await rm(join(hold.own, pendingDatabase), { force: true });
  for (const runId of (await readdir(hold.own)).filter(isRunId))
    await rm(join(hold.own, runId, "scratch"), { recursive: true, force: true });
}
