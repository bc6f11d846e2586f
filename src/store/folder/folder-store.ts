import type { Stats } from "node:fs";
import { lstat, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { manifestName } from "../../dump/manifest.js";
import { readRunFacts } from "../../dump/read-manifest.js";
import { StopError, UsageError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { ifAbsent, isThere, kindOf } from "../../files/files.js";
import { type Fingerprint, fingerprint } from "../../files/join-segments.js";
import type { Log } from "../../log.js";
import type { JobStore } from "../job-store.js";
import { pendingDatabase } from "./fence.js";
import { type LeasedJob, newestComplete, type OwnFolder, runIdsIn } from "./job-folders.js";
import { moveAside, moveAway } from "./remove-from.js";

/**
 * The store of a job that publishes into its folder. Each change is one rename from or into our own folder, so it fails once a
 * successor has fenced us.
 */
export function folderStore(owned: OwnFolder): JobStore {
  return {
    upload: async () => {},
    commit: ({ run_id }, stage) => commitRun(owned, run_id, stage),
    follow: async () => {},
    fetchRun: async (runId) => join(owned.runs, runId),
    fetchDatabase: async () => true,
    replaceDatabase: (built, keepsOld) => replaceDatabase(owned, built, keepsOld),
    publishReport: async () => {},
    pointLatest: (runId) => pointLatest(owned, runId),
    removeRun: (runId) => moveAway(owned, join(owned.runs, runId)),
    tidy: async () => {},
  };
}

/** Renames the stage into the folder of runs. Throws StopError if a run with this id already exists. */
async function commitRun(owned: OwnFolder, runId: string, stage: string): Promise<void> {
  const folder = join(owned.runs, runId);
  const manifest = await fingerprint(join(stage, manifestName));
  try {
    // A rename would replace an empty folder. It fails for a folder with files, even if the folder appears after this check.
    if (await isThere(folder))
      throw new StopError(`${folder} is there already, so this run cannot be published. Move it away`);
    await rename(stage, folder);
  } catch (error) {
    // A disk may report an error although the rename succeeded.
    if (!(await isFile(join(folder, manifestName), manifest).catch(() => false))) throw error;
  }
}

/** Whether the path is a file with these bytes. Opens nothing but files. */
async function isFile(path: string, { sha256 }: Fingerprint): Promise<boolean> {
  return (await lstat(path)).isFile() && (await fingerprint(path)).sha256 === sha256;
}

/**
 * Replaces the job's database. Removes the old write-ahead log first: DuckDB would replay it on the new database and delete the
 * wrong rows.
 */
async function replaceDatabase(owned: OwnFolder, built: string, keepsOld: boolean): Promise<string | undefined> {
  const { database, own } = owned;
  const aside = keepsOld ? await moveAside(owned, database) : undefined;
  const log = join(own, "database.wal");
  await rename(`${database}.wal`, log).then(() => rm(log), ifAbsent(undefined));
  await rename(built, database);
  // Renaming a file to another link of itself keeps both names, so remove `built`. A pending database is older than this one.
  for (const path of [built, join(own, pendingDatabase)]) await rm(path, { force: true });
  return aside;
}

/**
 * Replaces `latest` by a rename from our folder, because a symlink cannot be changed in place. Throws StopError if `latest` is not
 * a link.
 */
async function pointLatest({ folder, own }: OwnFolder, runId: string): Promise<void> {
  const path = join(folder, "latest");
  const aside = join(own, "latest");
  await rm(aside, { force: true, recursive: true });
  await symlink(join("runs", runId), aside);
  const other = await otherThanLink(path);
  if (other) throw new StopError(`${path} is ${kindOf(other)}, where a link belongs`);
  await rename(aside, path);
}

/**
 * Points `latest` to the newest complete run of the job, in case an earlier run failed to. If `latest` is not a link, for example a
 * folder left by copying or unpacking, moves it aside. Throws UsageError, and changes nothing, if that is not possible.
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
  const link = await readlink(path).catch(() => undefined);
  const isElsewhere = link !== undefined && dirname(link) !== "runs";
  if (isElsewhere && (await stat(path).catch(() => undefined))) return; // a link that the user made
  const [last] = await runIdsIn(leased.runs);
  if (last !== undefined && link === join("runs", last)) return;
  const newest = await newestComplete(leased, { job });
  if (newest !== undefined && link !== join("runs", newest)) await leased.store.pointLatest(newest);
}

/** Facts of a path that is not a link; undefined for a link or a missing path. */
async function otherThanLink(path: string): Promise<Stats | undefined> {
  const facts = await lstat(path).catch(ifAbsent(undefined));
  return facts?.isSymbolicLink() ? undefined : facts;
}
