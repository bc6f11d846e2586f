import { rename } from "node:fs/promises";
import { join } from "node:path";
import { replaceDatabase } from "../sinks/duckdb-replace.js";
import { flush } from "../sinks/flush.js";
import { pointLatest } from "./latest.js";
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
 * Puts a staged run in place: the database, its folder, and `latest` if the run is complete, each by one rename, so that a
 * reader sees all of it or nothing. What lies in the stage is on the disk already. The folder comes after the database:
 * where it is, all of it is. `waiting` are the readings of the indexing status that the new database holds.
 */
export async function publishRun(
  manifest: Manifest,
  workspace: Workspace,
  newDatabase: string | undefined,
  waiting: readonly string[],
): Promise<Published> {
  if (newDatabase !== undefined) {
    await replaceDatabase(newDatabase, workspace.database);
    await removeWaiting(waiting);
  }
  const folder = join(workspace.runs, workspace.runId);
  await rename(workspace.stage, folder);
  await flush(workspace.runs);
  if (manifest.status === "complete") await pointLatest(workspace, workspace.runId);
  return { folder, database: newDatabase === undefined ? undefined : workspace.database };
}
