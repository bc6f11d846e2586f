import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { flush } from "./flush.js";

/**
 * Puts a new database in the place of the old one by one rename. The log of somebody who wrote to the old one and has it
 * open, or was killed, goes first: DuckDB would replay it on the new one, and delete other rows than were meant.
 */
export async function replaceDatabase(built: string, path: string): Promise<void> {
  await rm(`${path}.wal`, { force: true });
  await rename(built, path);
  await flush(dirname(path));
}
