import { join } from "node:path";
import type { DatabaseWriter, DatabaseWriterOptions } from "../database/database-writer.js";
import { databaseOptions, newDatabase } from "../database/job-database.js";
import type { RunFacts } from "../database/tables.js";
import { lacksMemory } from "../duckdb/open-duckdb.js";
import type { StagedFile, StagedRows, TextFormat, Writer } from "../dump/formats/format.js";
import { fileFormats, formats } from "../dump/formats/formats.js";
import { jsonlText } from "../dump/formats/jsonl.js";
import type { Format, Job } from "../job/job.js";
import type { RunProgress } from "../job/run-progress.js";

/** The files of every format. */
interface Finished {
  readonly files: readonly StagedFile[];
  /** Sentences on what is lost with a database that turned out to be damaged; undefined if it is sound. */
  readonly damage: readonly string[] | undefined;
}

type Finish = (
  rows: StagedRows & RunFacts,
  outputs: Outputs,
  progress: RunProgress,
  signal: AbortSignal,
) => Promise<Finished>;

/**
 * Makes the files of every format and the database at the same time, as most of that is done outside of this thread. Parquet
 * and the database share the memory of DuckDB then. If it does not suffice, they are made once more, one after the other and
 * each by one thread of DuckDB, because every thread holds 2,048 rows in memory, however long they are.
 */
export const finishFormats: Finish = async (rows, outputs, progress, signal) => {
  try {
    return await finishAtOnce(rows, outputs, progress, signal);
  } catch (error) {
    if (!lacksMemory(error)) throw error;
    return finishOneByOne({ ...rows, threads: 1 }, outputs, progress, signal);
  }
};

const finishAtOnce: Finish = async (rows, outputs, progress, signal) => {
  const { writers, loaded, writeDatabase } = outputs;
  signal.throwIfAborted();
  const names = [...writers.map(({ format }) => format), ...(writeDatabase ? ["duckdb"] : [])];
  progress.step = `writing ${names.join(", ")}`;
  const shared = { ...rows, instances: Math.max(1, loaded) };
  const files = writers.map((writer) => writer.finish(shared));
  const damage = writeDatabase?.(shared);
  await Promise.allSettled([...files, damage]); // nothing may still write when this rejects
  return { files: (await Promise.all(files)).flat(), damage: await damage };
};

const finishOneByOne: Finish = async (rows, { writers, writeDatabase }, progress, signal) => {
  const files: StagedFile[] = [];
  for (const writer of writers) {
    signal.throwIfAborted();
    progress.step = `writing ${writer.format}`;
    files.push(...(await writer.finish(rows)));
  }
  signal.throwIfAborted();
  progress.step = "writing duckdb";
  return { files, damage: await writeDatabase?.(rows) };
};

/** The writers of a job. */
export interface Outputs {
  /** Written during the crawl: JSONL always, because the others are loaded from it. */
  readonly formats: readonly TextFormat[];
  /** Finished at the end, in this order or at the same time. */
  readonly writers: readonly Writer[];
  /** How many of the formats DuckDB makes from the joined JSONL, the database included. */
  readonly loaded: number;
  /** Undefined when no database is asked for. */
  readonly writeDatabase: DatabaseWriter | undefined;
  /** The database that is built aside; undefined when none is asked for. */
  readonly newDatabase: string | undefined;
}

/** Opens the writers of the formats that a job asks for; a format is loaded only where it is. */
export async function openOutputs(options: DatabaseWriterOptions): Promise<Outputs> {
  const { job, workspace, signal } = options;
  const writers: Writer[] = [];
  const asked = writtenFormats(job);
  for (const name of fileFormats.filter((format) => asked.includes(format))) {
    const { openWriter } = await formats[name].load();
    const temporary = join(workspace.scratch, `spill-${name}`); // no two instances of DuckDB may share one
    const duckDb = { ...databaseOptions(job, workspace, signal), temporary };
    writers.push(openWriter({ csvSafe: job.output.csvSafe, duckDb }));
  }
  const texts = writers.flatMap(({ text }) => text ?? []);
  const others = texts.filter(({ format }) => format !== jsonlText.format);
  const isAsked = asked.includes("duckdb");
  return {
    formats: [jsonlText, ...others],
    writers,
    loaded: writers.filter(({ text }) => text === undefined).length + (isAsked ? 1 : 0),
    writeDatabase: isAsked ? (await import("../database/database-writer.js")).openDatabaseWriter(options) : undefined,
    newDatabase: isAsked ? join(workspace.scratch, newDatabase) : undefined,
  };
}

/** The formats that a run of this job writes. A shard writes JSONL, of which `kbdump join` makes those that the job asks for. */
export function writtenFormats({ shard, output }: Pick<Job, "shard" | "output">): readonly Format[] {
  return shard ? ["jsonl"] : output.formats;
}
