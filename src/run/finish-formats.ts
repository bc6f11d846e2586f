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

interface Finished {
  readonly files: readonly StagedFile[];
  /** Sentences about the data that a damaged database loses; undefined if the database is not damaged. */
  readonly damage: readonly string[] | undefined;
}

type Finish = (
  rows: StagedRows & RunFacts,
  outputs: Outputs,
  progress: RunProgress,
  signal: AbortSignal,
) => Promise<Finished>;

/**
 * Writes the files of all formats and the database in parallel, because most of the work runs outside this thread. Parquet and
 * the database then share DuckDB's memory. If that is too little for them, starts over and writes one after the other.
 */
export const finishFormats: Finish = async (rows, outputs, progress, signal) => {
  try {
    return await finishAtOnce(rows, outputs, progress, signal);
  } catch (error) {
    if (outputs.loaded < 2 || !lacksMemory(error)) throw error;
    return finishOneByOne(rows, outputs, progress, signal);
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
  await Promise.allSettled([...files, damage]); // every write must have ended when this rejects
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

export interface Outputs {
  /** The text formats that are written during the crawl. Always includes JSONL, because the other outputs are loaded from it. */
  readonly formats: readonly TextFormat[];
  /** The writers of all formats. They run at the end, in this order or in parallel. */
  readonly writers: readonly Writer[];
  /** How many outputs DuckDB makes from the joined JSONL, including the database. */
  readonly loaded: number;
  /** Builds the database; undefined if the job has none. */
  readonly writeDatabase: DatabaseWriter | undefined;
  /** The temporary path of the new database; undefined if the job has none. */
  readonly newDatabase: string | undefined;
}

/** Opens the writers of the job's formats. Loads only the modules it needs. */
export async function openOutputs(options: DatabaseWriterOptions): Promise<Outputs> {
  const { job, workspace, signal } = options;
  const writers: Writer[] = [];
  const asked = writtenFormats(job);
  for (const name of fileFormats.filter((format) => asked.includes(format))) {
    const { openWriter } = await formats[name].load();
    const temporary = join(workspace.scratch, `spill-${name}`); // two DuckDB instances must not share one
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

/** The formats that a run of this job writes. A shard writes JSONL only; `kbdump join` makes the job's formats from it. */
export function writtenFormats({ shard, output }: Pick<Job, "shard" | "output">): readonly Format[] {
  return shard ? ["jsonl"] : output.formats;
}
