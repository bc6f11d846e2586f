import { rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { ifAbsent } from "./is-there.js";
import { type Hold, makeOwnFolder } from "./job-folders.js";

/** Where what is being removed is deleted. */
export function removedFolder(hold: Pick<Hold, "own">): string {
  return join(hold.own, "removed");
}

/**
 * Removes something from the folder of the job: it leaves by one rename into our own folder, so that nothing is ever half
 * there and a run that is fenced removes nothing, and is deleted there. Nothing is done where nothing has this name.
 */
export async function removeFrom(hold: Hold, path: string): Promise<void> {
  await makeOwnFolder(removedFolder(hold));
  await rename(path, join(removedFolder(hold), basename(path))).catch(ifAbsent(undefined));
  await clearRemoved(hold);
}

/** Deletes what was removed. What cannot be deleted stays for the next holder. */
export async function clearRemoved(hold: Pick<Hold, "own">): Promise<void> {
  await rm(removedFolder(hold), { recursive: true, force: true }).catch(() => {});
}
