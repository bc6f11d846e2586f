import { lstat, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UsageError } from "../../errors.js";
import type { Log } from "../../log.js";
import type { Hold } from "../../run/work/job-folders.js";
import { moveAside } from "../../run/work/move-aside.js";
import { kindOf } from "../files/regular-file.js";
import { readRunFacts } from "../manifest/read-manifest.js";
import { isRunId } from "../manifest/run-id.js";

/** Lets `latest` lead to a run. A symlink cannot be replaced in place: a new one is made in our folder and renamed over it. */
export async function pointLatest(hold: Hold, runId: string): Promise<void> {
  const aside = join(hold.own, "latest");
  await rm(aside, { force: true });
  await symlink(join("runs", runId), aside);
  await rename(aside, join(hold.folder, "latest"));
}

/**
 * Points `latest` to the newest complete run of the job, which an earlier run may have failed to do. A real folder there, left
 * by copying or unpacking, is moved aside if it is a run of this job. Throws UsageError, and changes nothing, if `latest` is
 * anything else.
 */
export async function mendLatest(hold: Hold, job: string, log: Log): Promise<void> {
  const path = join(hold.folder, "latest");
  const facts = await lstat(path).catch(() => undefined);
  if (facts && !facts.isSymbolicLink()) {
    const manifest = facts.isDirectory() ? await readRunFacts(path) : undefined;
    if (manifest?.job !== job) throw foreignLatest(path, kindOf(facts));
    const aside = await moveAside(hold, path);
    log(
      "warn",
      `${path} was a folder, a copy of run ${manifest.run_id}, where a link belongs: it was moved to ${aside}`,
    );
  }
  const newest = await newestComplete(hold, job);
  if (newest !== undefined) await pointLatest(hold, newest);
}

function foreignLatest(path: string, kind: string): UsageError {
  const message = `${path} is ${kind}, but kbdump keeps a link to the newest complete run there, and it is no copy of a run of this job. Move it away`;
  return new UsageError(message, []);
}

/**
 * Finds the newest complete run; undefined if `latest` leads to it already, or to an existing place outside of `runs`. Reads
 * manifests from the newest on, and stops at the first match.
 */
async function newestComplete({ folder, runs }: Hold, job: string): Promise<string | undefined> {
  const path = join(folder, "latest");
  const link = await readlink(path).catch(() => undefined);
  const isElsewhere = link !== undefined && dirname(link) !== "runs";
  if (isElsewhere && (await stat(path).catch(() => undefined))) return undefined;
  for (const runId of (await readdir(runs)).filter(isRunId).sort().reverse()) {
    if (link === join("runs", runId)) return undefined;
    const manifest = await readRunFacts(join(runs, runId));
    if (manifest?.job === job && manifest.status === "complete" && manifest.run_id === runId) return runId;
  }
  return undefined;
}
