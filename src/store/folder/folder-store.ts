import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Manifest, manifestName } from "../../dump/manifest.js";
import { StopError } from "../../errors.js";
import { ifAbsent, isAbsence, isThere, kindOf, makeOwnFolder } from "../../files/files.js";
import { type Fingerprint, fingerprint } from "../../files/join-segments.js";
import type { OwnFolder } from "./job-folders.js";

/** The file name of a new database that could not replace the job's database, although its run is published. */
export const pendingDatabase = "pending.duckdb";
/** The folder for files that were moved out of the published folder, until they get their new name there. */
export const asideFolder = "aside";
/** The folder in which removed files are deleted. The next owner deletes what is left. */
export const removedFolder = "removed";

/**
 * The store that a job publishes to: its local folder, or a bucket (see BucketStore), which has a local work folder with the same
 * layout, but without rows. Only the owner of the lease may use the store. Each change in the folder is one rename from or into our
 * own folder, which a successor removes first. So our changes fail once another run has taken over.
 */
export class FolderStore {
  protected readonly owned: OwnFolder;

  constructor(owned: OwnFolder) {
    this.owned = owned;
  }

  /** Uploads the files of a staged run. Readers do not see them yet. */
  async upload(_manifest: Manifest, _stage: string, _signal: AbortSignal): Promise<void> {}

  /** Publishes the uploaded run. Throws StopError if a run with this id already exists. Rejects if nothing is published. */
  async commit({ run_id }: Manifest, stage: string): Promise<void> {
    const folder = join(this.owned.runs, run_id);
    const path = join(folder, manifestName);
    const manifest = await fingerprint(join(stage, manifestName));
    try {
      // Checked because the rename would replace an empty folder. It fails if the folder has files, even if it appears after
      // this check.
      if (await isThere(folder))
        throw new StopError(`${folder} is there already, so this run cannot be published. Move it away`);
      await rename(stage, folder);
    } catch (error) {
      // A disk may report an error although the rename succeeded.
      if (!(await isFile(path, manifest).catch(() => false))) throw error;
    }
  }

  /** Updates the work folder after a commit. */
  async follow(_manifest: Manifest, _stage: string): Promise<void> {}

  /** Returns the folder with the rows of a published run, fetched into `into` if necessary. */
  async fetchRun(runId: string, _into: string, _signal: AbortSignal): Promise<string> {
    return join(this.owned.runs, runId);
  }

  /** Fetches the published database if the local one differs. Returns false, and fetches nothing, if it has more bytes than `most`. */
  async fetchDatabase(_most?: number): Promise<boolean> {
    return true;
  }

  /**
   * Replaces the database, which must still be the one that `fetchDatabase` found. If that fails, the new database stays at `built`.
   * `keepsOld`: moves the old database aside and returns its new path.
   */
  async replaceDatabase(built: string, keepsOld: boolean): Promise<string | undefined> {
    const { database, own } = this.owned;
    const aside = keepsOld ? await moveAside(this.owned, database) : undefined;
    // The old write-ahead log first: DuckDB would replay it on the new database and delete the wrong rows.
    await removeFrom(this.owned, `${database}.wal`);
    await rename(built, database);
    // Removed here, because renaming a file to another link of itself keeps both names. A pending database is older than this
    // one.
    for (const path of [built, join(own, pendingDatabase)]) await rm(path, { force: true });
    return aside;
  }

  /** Publishes the report at this path in the local folder. */
  async publishReport(_path: string): Promise<void> {}

  /**
   * Points `latest` to a run by a rename from our folder, because a symlink cannot be changed in place. Throws StopError if
   * `latest` is not a link.
   */
  async pointLatest(runId: string): Promise<void> {
    const { folder, own } = this.owned;
    const [path, aside] = [join(folder, "latest"), join(own, "latest")];
    await rm(aside, { force: true, recursive: true });
    await symlink(join("runs", runId), aside);
    const other = await otherThanLink(path);
    if (other) throw new StopError(`${path} is ${kindOf(other)}, where a link belongs`);
    await rename(aside, path);
  }

  /** Removes a run. Files that cannot be removed now are removed later. */
  async removeRun(runId: string): Promise<void> {
    await moveAway(this.owned, join(this.owned.runs, runId));
  }

  /** Removes unneeded files from the local folder. */
  async tidy(): Promise<void> {}
}

/** Whether the path is a file with these bytes. Opens nothing but files. Rejects if the path does not exist. */
export async function isFile(path: string, { bytes, sha256 }: Fingerprint): Promise<boolean> {
  if (!(await lstat(path)).isFile()) return false;
  const found = await fingerprint(path);
  return found.bytes === bytes && found.sha256 === sha256;
}

/** Facts of a path that is not a link; undefined for a link or a missing path. */
export async function otherThanLink(path: string): Promise<Stats | undefined> {
  const facts = await lstat(path).catch(ifAbsent(undefined));
  return facts?.isSymbolicLink() ? undefined : facts;
}

/**
 * Removes a file or folder of the job: renames it into our own folder, then deletes it there. So readers never see it half
 * deleted, and we remove nothing once another run has taken over. Does nothing if the path does not exist.
 */
export async function removeFrom(owned: OwnFolder, path: string): Promise<void> {
  await moveAway(owned, path).catch(async (error: unknown) => {
    if (!isAbsence(error) || !(await isThere(join(owned.own, removedFolder)))) throw error; // if our folder is missing, another run has taken over
  });
  await clearRemoved(owned);
}

/** Renames a file or folder of the job into our own folder; `clearRemoved` deletes it later. Rejects if the path does not exist. */
export async function moveAway({ own }: OwnFolder, path: string): Promise<void> {
  const folder = join(own, removedFolder);
  await makeOwnFolder(folder);
  await rename(path, join(folder, `${basename(path)}.${randomUUID()}`)); // the same name may be there already, because some files cannot be deleted
}

/** Deletes everything that `moveAway` moved. */
export async function clearRemoved({ own }: OwnFolder): Promise<void> {
  await rm(join(own, removedFolder), { recursive: true, force: true }).catch(() => {});
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

async function putBack({ folder, own }: OwnFolder, name: string): Promise<string> {
  let target = join(folder, `${name}.aside`);
  for (let number = 2; await isThere(target); number++) target = join(folder, `${name}.aside-${number}`);
  await rename(join(own, asideFolder, name), target);
  return target;
}
