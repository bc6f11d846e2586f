import { type Connection, withSpill } from "../../../src/duckdb/open-duckdb.js";
import { type Dump, openDump } from "../../../src/dump/open-dump.js";
import { emptyReadProgress } from "../../../src/read-progress.js";
import { type LoadedTables, type LoadOptions, loadTables } from "../../../src/report/facts/load-tables.js";

/** Loads the tables of a dump, and hands them to `work`. */
export async function withTables<T>(
  folder: string,
  work: (connection: Connection, dump: Dump, loaded: LoadedTables) => Promise<T>,
  options: Partial<LoadOptions> = {},
): Promise<T> {
  const dump = await openDump(folder, "nothing was reported");
  const signal = new AbortController().signal;
  return withSpill(":memory:", { memory: "800MB", signal }, async (connection) => {
    const all = { database: undefined, content: true, signal, progress: emptyReadProgress(), ...options };
    return work(connection, dump, await loadTables(connection, dump, all));
  });
}
