import { readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { ifAbsent, isThere } from "../../files/files.js";
import { asideFolder } from "./fence.js";
import { type Hold, makeOwnFolder } from "./job-folders.js";

/** The folder in which removed files are deleted. */
export function removedFolder(hold: Pick<Hold, "own">): string {
  return join(hold.own, "removed");
}

/**
 * Removes a file or folder of the job: one rename into our own folder, where it is deleted. So readers never see it half
 * deleted, and a fenced run removes nothing. Does nothing if the path does not exist.
 */
export async function removeFrom(hold: Hold, path: string): Promise<void> {
  await makeOwnFolder(removedFolder(hold));
  await rename(path, join(removedFolder(hold), basename(path))).catch(ifAbsent(undefined));
  await clearRemoved(hold);
}

/** Deletes the removed files. The next holder tries again with those that cannot be deleted. */
export async function clearRemoved(hold: Pick<Hold, "own">): Promise<void> {
  await rm(removedFolder(hold), { recursive: true, force: true }).catch(() => {});
}

/**
 * Renames a file or folder of the job to `<name>.aside`, and gives the new path. It passes through our own folder, so that a
 * fenced run moves nothing. If we end in between, the next holder finds it there.
 */
export async function moveAside(hold: Hold, path: string): Promise<string> {
  await makeOwnFolder(join(hold.own, asideFolder));
  await rename(path, join(hold.own, asideFolder, basename(path)));
  return putBack(hold, basename(path));
}

/** Completes the moves that an earlier holder began. */
export async function endMovesAside(hold: Hold): Promise<void> {
  for (const name of await readdir(join(hold.own, asideFolder)).catch(() => [])) await putBack(hold, name);
}

async function putBack(hold: Hold, name: string): Promise<string> {
  const target = await freeName(join(hold.folder, `${name}.aside`));
  await rename(join(hold.own, asideFolder, name), target);
  return target;
}

async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!(await isThere(name))) return name;
  }
}
