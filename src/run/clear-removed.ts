import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobFolders } from "./job-folders.js";

/** Where runs that are being removed are deleted. */
export function removedFolder(folders: Pick<JobFolders, "private">): string {
  return join(folders.private, "removed");
}

/** Deletes what was removed, also by an earlier process that was killed meanwhile. What cannot be deleted stays. */
export async function clearRemoved(folders: Pick<JobFolders, "private">): Promise<void> {
  await rm(removedFolder(folders), { recursive: true, force: true }).catch(() => {});
}
