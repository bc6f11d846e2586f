import { readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { ifAbsent, isThere } from "../../files/files.js";
import { asideFolder } from "./fence.js";
import { type LeasedJob, makeOwnFolder } from "./job-folders.js";

/** The folder in which removed files are deleted. */
export function removedFolder(leased: Pick<LeasedJob, "own">): string {
  return join(leased.own, "removed");
}

/**
 * Removes a file or folder of the job: one rename into our own folder, where it is deleted. So readers never see it half
 * deleted, and a fenced run removes nothing. Does nothing if the path does not exist.
 */
export async function removeFrom(leased: LeasedJob, path: string): Promise<void> {
  await makeOwnFolder(removedFolder(leased));
  await rename(path, join(removedFolder(leased), basename(path))).catch(ifAbsent(undefined));
  await clearRemoved(leased);
}

/** Deletes the removed files. The next holder tries again with those that cannot be deleted. */
export async function clearRemoved(leased: Pick<LeasedJob, "own">): Promise<void> {
  await rm(removedFolder(leased), { recursive: true, force: true }).catch(() => {});
}

/**
 * Renames a file or folder of the job to `<name>.aside`, and gives the new path. It passes through our own folder, so that a
 * fenced run moves nothing. If we end in between, the next holder finds it there.
 */
export async function moveAside(leased: LeasedJob, path: string): Promise<string> {
  await makeOwnFolder(join(leased.own, asideFolder));
  await rename(path, join(leased.own, asideFolder, basename(path)));
  return putBack(leased, basename(path));
}

/** Completes the moves that an earlier holder began. */
export async function endMovesAside(leased: LeasedJob): Promise<void> {
  for (const name of await readdir(join(leased.own, asideFolder)).catch(() => [])) await putBack(leased, name);
}

async function putBack(leased: LeasedJob, name: string): Promise<string> {
  const target = await freeName(join(leased.folder, `${name}.aside`));
  await rename(join(leased.own, asideFolder, name), target);
  return target;
}

async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!(await isThere(name))) return name;
  }
}
