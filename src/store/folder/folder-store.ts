import type { Stats } from "node:fs";
import { lstat, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { manifestName } from "../../dump/manifest.js";
import { StopError } from "../../errors.js";
import { ifAbsent, isAbsence, isThere, kindOf, makeOwnFolder } from "../../files/files.js";
import { type Fingerprint, fingerprint } from "../../files/join-segments.js";
import type { JobStore } from "../job-store.js";
import { asideFolder, pendingDatabase } from "./fence.js";
import type { OwnFolder } from "./job-folders.js";

/**
 * The store of a job that publishes into its local folder. Each change is one rename from or into our own folder, which a
 * successor removes first. So our changes fail once another run has taken over.
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
    // Checked because the rename would replace an empty folder. It fails if the folder has files, even if it appears after
    // this check.
    if (await isThere(folder))
      throw new StopError(`${folder} is there already, so this run cannot be published. Move it away`);
    await rename(stage, folder);
  } catch (error) {
    // A disk may report an error although the rename succeeded.
    if (!(await isFile(join(folder, manifestName), manifest).catch(() => false))) throw error;
  }
}

/** Whether the path is a file with these bytes. Opens nothing but files. Rejects if the path does not exist. */
export async function isFile(path: string, { bytes, sha256 }: Fingerprint): Promise<boolean> {
  if (!(await lstat(path)).isFile()) return false;
  const found = await fingerprint(path);
  return found.bytes === bytes && found.sha256 === sha256;
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
  // Removed here, because renaming a file to another link of itself keeps both names. A pending database is older than this
  // one.
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

/** Facts of a path that is not a link; undefined for a link or a missing path. */
export async function otherThanLink(path: string): Promise<Stats | undefined> {
  const facts = await lstat(path).catch(ifAbsent(undefined));
  return facts?.isSymbolicLink() ? undefined : facts;
}

/** The folder in which removed files are deleted. */
function removedFolder(owned: Pick<OwnFolder, "own">): string {
  return join(owned.own, "removed");
}

/**
 * Removes a file or folder of the job: renames it into our own folder, then deletes it there. So readers never see it half
 * deleted, and we remove nothing once another run has taken over. Does nothing if the path does not exist.
 */
export async function removeFrom(owned: OwnFolder, path: string): Promise<void> {
  await moveAway(owned, path).catch(async (error: unknown) => {
    if (!isAbsence(error) || !(await isThere(removedFolder(owned)))) throw error; // if our folder is missing, another run has taken over
  });
  await clearRemoved(owned);
}

/**
 * Renames a file or folder of the job into our own folder, where `clearRemoved` deletes it later. Rejects if the path does not
 * exist.
 */
export async function moveAway(owned: OwnFolder, path: string): Promise<void> {
  await makeOwnFolder(removedFolder(owned));
  await rename(path, join(removedFolder(owned), basename(path)));
}

/** Deletes everything that `moveAway` moved. The next owner retries files that cannot be deleted. */
export async function clearRemoved(owned: Pick<OwnFolder, "own">): Promise<void> {
  await rm(removedFolder(owned), { recursive: true, force: true }).catch(() => {});
}

/**
 * Renames a file or folder of the job to `<name>.aside`, and returns the new path. The file passes through our own folder, so
 * that we move nothing once another run has taken over. If this process ends in between, the next owner completes the move.
 */
export async function moveAside(owned: OwnFolder, path: string): Promise<string> {
  await makeOwnFolder(join(owned.own, asideFolder));
  await rename(path, join(owned.own, asideFolder, basename(path)));
  return putBack(owned, basename(path));
}

/** Completes the moves that an earlier owner began with `moveAside`. */
export async function endMovesAside(owned: OwnFolder): Promise<void> {
  for (const name of await readdir(join(owned.own, asideFolder)).catch(() => [])) await putBack(owned, name);
}

async function putBack(owned: OwnFolder, name: string): Promise<string> {
  const target = await freeName(join(owned.folder, `${name}.aside`));
  await rename(join(owned.own, asideFolder, name), target);
  return target;
}

async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!(await isThere(name))) return name;
  }
}
