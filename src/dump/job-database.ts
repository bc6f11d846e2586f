import { basename, dirname, join } from "node:path";
import { isThere } from "./files/is-there.js";
import type { Dump } from "./open-dump.js";

/** The database of the job of a run, beside the folder of its runs; undefined where there is none. */
export async function databaseOf({ folder, manifest }: Dump): Promise<string | undefined> {
  if (basename(dirname(folder)) !== "runs") return undefined;
  const path = join(dirname(dirname(folder)), `${manifest.job}.duckdb`);
  return (await isThere(path)) ? path : undefined;
}
