import type { Stats } from "node:fs";
import { lstat, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { manifestName } from "../dump/manifest.js";
import { readRunFacts } from "../dump/read-manifest.js";
import { isRunId } from "../dump/run-id.js";
import { StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { ifAbsent, isThere, kindOf } from "../files/files.js";
import { type Fingerprint, fingerprint } from "../files/join-segments.js";
import type { Log } from "../log.js";
import type { LeasedJob } from "./folder/job-folders.js";
import { moveAside } from "./folder/remove-from.js";
import { workspaceIn } from "./workspace.js";

/**
 * Lets `latest` lead to a run. A symlink cannot be replaced in place: a new one is made in our folder and renamed over it.
 * Throws StopError if something else has taken its place meanwhile.
 */
export async function pointLatest(leased: LeasedJob, runId: string): Promise<void> {
  const path = join(leased.folder, "latest");
  const aside = join(leased.own, "latest");
  await rm(aside, { force: true, recursive: true });
  await symlink(join("runs", runId), aside);
  const other = await otherThanLink(path);
  if (other) throw new StopError(`${path} is ${kindOf(other)}, where a link belongs`);
  await rename(aside, path);
}

/**
 * Points `latest` to the newest complete run of the job, which an earlier run may have failed to do. Anything but a link there,
 * such as a folder left by copying or unpacking, is moved aside. Throws UsageError, and changes nothing, if that is not possible.
 */
export async function mendLatest(leased: LeasedJob, job: string, log: Log): Promise<void> {
  const path = join(leased.folder, "latest");
  const other = await otherThanLink(path);
  if (other) {
    const run = other.isDirectory() ? await readRunFacts(path) : undefined;
    const what = run ? `${kindOf(other)}, a copy of run ${run.run_id},` : kindOf(other);
    const aside = await moveAside(leased, path).catch(async (error: unknown) => {
      if (!(await isThere(leased.own))) throw error; // we were fenced
      throw new UsageError(
        `${path} is ${what} where a link belongs, and it cannot be moved aside (${problemText(error)}). Move it away`,
        [],
      );
    });
    log("warn", `${path} was ${what} where a link belongs: it was moved to ${aside}`);
  }
  const newest = await newestComplete(leased, job);
  if (newest !== undefined) await pointLatest(leased, newest);
}

/** The file or folder that has the name of `latest` and is no link; undefined if there is nothing, or a link. */
async function otherThanLink(path: string): Promise<Stats | undefined> {
  const facts = await lstat(path).catch(ifAbsent(undefined));
  return facts?.isSymbolicLink() ? undefined : facts;
}

/**
 * Finds the newest complete run; undefined if `latest` leads to it already, or to an existing place outside of `runs`. Reads
 * manifests from the newest on, and stops at the first match.
 */
async function newestComplete({ folder, runs }: LeasedJob, job: string): Promise<string | undefined> {
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

/**
 * Publishes a run by one rename of its staged folder; everything else follows from it. The stage lies below the folder of the
 * holder, so that the rename fails once a successor has fenced it. Rejects where nothing is published: StopError when there is
 * a run of this id already.
 */
export async function commitRun(leased: LeasedJob, runId: string): Promise<void> {
  const { stage } = workspaceIn(leased, runId);
  const folder = join(leased.runs, runId);
  const manifest = await fingerprint(join(stage, manifestName));
  try {
    await refuseTaken(folder);
    await rename(stage, folder);
  } catch (error) {
    // A disk that reports an error may have done it all the same.
    if (!(await isFile(join(folder, manifestName), manifest).catch(() => false))) throw error;
  }
}

/** A rename takes the place of an empty folder; of one with files it fails by itself, also in the moment after this look. */
async function refuseTaken(folder: string): Promise<void> {
  const facts = await lstat(folder).catch(ifAbsent(undefined));
  if (facts) throw new StopError(`${folder} is there already, so this run cannot be published. Move it away`);
}

/** Whether there is a file with these bytes; anything else that stands there is not opened. */
async function isFile(path: string, { sha256 }: Fingerprint): Promise<boolean> {
  return (await lstat(path)).isFile() && (await fingerprint(path)).sha256 === sha256;
}
