import { readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { isAbsence, isThere, makeOwnFolder } from "../../files/files.js";
import { asideFolder } from "./fence.js";
import type { OwnFolder } from "./job-folders.js";

/** The folder in which removed files are deleted. */
function removedFolder(owned: Pick<OwnFolder, "own">): string {
  return join(owned.own, "removed");
}

/**
 * Removes a file or folder of the job: renames it into our own folder, then deletes it there. So readers never see it half deleted,
 * and a fenced run removes nothing. Does nothing if the path does not exist.
 */
export async function removeFrom(owned: OwnFolder, path: string): Promise<void> {
  await moveAway(owned, path).catch(async (error: unknown) => {
    if (!isAbsence(error) || !(await isThere(removedFolder(owned)))) throw error; // if our folder is missing, we were fenced
  });
  await clearRemoved(owned);
}

/** Does only the rename of a removal; `clearRemoved` deletes. Rejects if the path does not exist. */
export async function moveAway(owned: OwnFolder, path: string): Promise<void> {
  await makeOwnFolder(removedFolder(owned));
  await rename(path, join(removedFolder(owned), basename(path)));
}

/** Deletes the removed files. The next owner retries files that cannot be deleted. */
export async function clearRemoved(owned: Pick<OwnFolder, "own">): Promise<void> {
  await rm(removedFolder(owned), { recursive: true, force: true }).catch(() => {});
}

/**
 * Renames a file or folder of the job to `<name>.aside`, and returns the new path. The file passes through our own folder, so that
 * a fenced run moves nothing. If this process ends in between, the next owner completes the move.
 */
export async function moveAside(owned: OwnFolder, path: string): Promise<string> {
  await makeOwnFolder(join(owned.own, asideFolder));
  await rename(path, join(owned.own, asideFolder, basename(path)));
  return putBack(owned, basename(path));
}

/** Completes the moves that an earlier owner began. */
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
