import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryShare } from "../duckdb/memory-share.js";
import { type Connection, memoryLack, withDuckDb } from "../duckdb/open-duckdb.js";
import { RowStore, type RowStoreOptions } from "./row-store.js";

export interface WithRowStoreOptions extends RowStoreOptions {
  /** The most memory that both may use together, such as `800MB`. */
  readonly memory: string;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` with a DuckDB that reads and another that stores, because one that streams can do nothing else meanwhile.
 * Their spill files go to the system's temporary folder, and are removed.
 */
export async function withRowStore<T>(
  options: WithRowStoreOptions,
  work: (reader: Connection, store: RowStore) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  const temporary = await mkdtemp(join(tmpdir(), "kbdump-verify-"));
  const setting = (name: string, share: number) => ({
    memory: memoryShare(options.memory, share),
    temporary: join(temporary, name),
  });
  try {
    return await withDuckDb(":memory:", setting("read", 0.75), async (reader) => {
      await reader.run("SET threads = 1"); // who takes the rows is the slower one; every thread takes memory
      return withDuckDb(":memory:", setting("store", 0.25), async (connection) => {
        const interrupt = () => {
          reader.interrupt();
          connection.interrupt();
        };
        signal.addEventListener("abort", interrupt);
        try {
          return await work(reader, new RowStore(connection, options));
        } catch (error) {
          signal.throwIfAborted(); // rather than that DuckDB was interrupted
          throw memoryLack(error, options.memory) ?? error;
        } finally {
          signal.removeEventListener("abort", interrupt);
        }
      });
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
