import { rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { flush } from "../sinks/flush.js";
import type { JobFolders } from "./job-folders.js";

/** Lets `latest` lead to a run. A symlink cannot be replaced in place: a new one is made aside and renamed over it. */
export async function pointLatest(folders: JobFolders, runId: string): Promise<void> {
  const aside = join(folders.private, "latest");
  await rm(aside, { force: true });
  await symlink(join("runs", runId), aside);
  await rename(aside, join(folders.folder, "latest"));
  await flush(folders.folder);
}
