import type { RunFacts } from "../database/run-rows.js";
import { lacksMemory } from "../duckdb/open-duckdb.js";
import type { StagedFile, StagedRows } from "../dump/formats/format.js";
import type { Outputs } from "./open-outputs.js";
import type { RunTally } from "./setting/run-tally.js";

/** The files of every format. */
export interface Finished {
  readonly files: readonly StagedFile[];
  /** Sentences on what is lost with a database that turned out to be damaged; undefined if it is sound. */
  readonly damage: readonly string[] | undefined;
}

type Finish = (
  rows: StagedRows & RunFacts,
  outputs: Outputs,
  tally: RunTally,
  signal: AbortSignal,
) => Promise<Finished>;

/**
 * Makes the files of every format and the database at the same time, as most of that is done outside of this thread. Parquet
 * and the database share the memory of DuckDB then. If it does not suffice, they are made once more, one after the other and
 * each by one thread of DuckDB, because every thread holds 2,048 rows in memory, however long they are.
 */
export const finishFormats: Finish = async (rows, outputs, tally, signal) => {
  try {
    return await finishAtOnce(rows, outputs, tally, signal);
  } catch (error) {
    if (!lacksMemory(error)) throw error;
    return finishInTurn({ ...rows, threads: 1 }, outputs, tally, signal);
  }
};

const finishAtOnce: Finish = async (rows, outputs, tally, signal) => {
  const { writers, loaded, writeDatabase } = outputs;
  signal.throwIfAborted();
  const names = [...writers.map(({ format }) => format), ...(writeDatabase ? ["duckdb"] : [])];
  tally.step = `writing ${names.join(", ")}`;
  const shared = { ...rows, instances: Math.max(1, loaded) };
  const files = writers.map((writer) => writer.finish(shared));
  const damage = writeDatabase?.(shared);
  await Promise.allSettled([...files, damage]); // nothing may still write when this rejects
  return { files: (await Promise.all(files)).flat(), damage: await damage };
};

const finishInTurn: Finish = async (rows, { writers, writeDatabase }, tally, signal) => {
  const files: StagedFile[] = [];
  for (const writer of writers) {
    signal.throwIfAborted();
    tally.step = `writing ${writer.format}`;
    files.push(...(await writer.finish(rows)));
  }
  signal.throwIfAborted();
  tally.step = "writing duckdb";
  return { files, damage: await writeDatabase?.(rows) };
};
