import { rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { ifAbsent } from "../../dump/files/is-there.js";
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
