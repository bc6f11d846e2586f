import { rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { flush } from "../sinks/flush.js";
import type { JsonlFile } from "../sinks/sink.js";
import type { Manifest } from "./manifest.js";
import { removeWaiting } from "./waiting-status.js";
import type { Workspace } from "./workspace.js";

/** Where a published run lies. */
export interface Published {
  readonly folder: string;
  /** Undefined when the job asks for no database. */
  readonly database: string | undefined;
}

/**
 * Puts a staged run in place: its folder, the database, and `latest` if the run is complete, each by one rename, so that
 * a reader sees all of it or nothing. What lies in the stage is on the disk already. `waiting` are the readings of the
 * indexing status that the new database holds; they wait no longer.
 */
export async function publishRun(
  manifest: Manifest,
  workspace: Workspace,
  newDatabase: string | undefined,
  waiting: readonly JsonlFile[],
): Promise<Published> {
  const folder = join(workspace.runs, workspace.runId);
  await rename(workspace.stage, folder);
  await flush(workspace.runs);
  if (newDatabase !== undefined) {
    await rename(newDatabase, workspace.database);
    await removeWaiting(waiting);
  }
  if (manifest.status === "complete") await pointLatest(workspace);
  await flush(workspace.folder);
  return { folder, database: newDatabase === undefined ? undefined : workspace.database };
}

/** A symlink cannot be replaced in place: a new one is made aside and renamed over it. */
async function pointLatest(workspace: Workspace): Promise<void> {
  const aside = join(workspace.scratch, "latest");
  await rm(aside, { force: true });
  await symlink(join("runs", workspace.runId), aside);
  await rename(aside, join(workspace.folder, "latest"));
}
