import { constants, copyFile } from "node:fs/promises";
import { type DuckDbOptions, withDuckDb } from "../duckdb/open-duckdb.js";
import { StopError } from "../errors.js";

/** Copies a database, which others may have open: no lock on it is felt. StopError when it is none that can be read. */
export async function copyDatabase(path: string, copy: string, options: DuckDbOptions): Promise<void> {
  await copyFile(path, copy, constants.COPYFILE_FICLONE);
  await withDuckDb(copy, options, async () => {}).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message.replaceAll(copy, path) : String(cause);
    throw new StopError(`${path} cannot be read; move it away, and a new database is made, or restore it: ${reason}`, {
      cause,
    });
  });
}
