import { join } from "node:path";
import type { TextFormat, Writer } from "../dump/formats/format.js";
import { fileFormats, formats } from "../dump/formats/formats.js";
import { jsonlText } from "../dump/formats/jsonl/write.js";
import type { DatabaseWriter, DatabaseWriterOptions } from "./database/database-writer.js";
import { databaseOptions, newDatabase } from "./database/job-database.js";
import { writtenFormats } from "./written-formats.js";

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
    const { openWriter } = await formats[name].write();
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
    writeDatabase: isAsked ? (await import("./database/database-writer.js")).openDatabaseWriter(options) : undefined,
    newDatabase: isAsked ? join(workspace.scratch, newDatabase) : undefined,
  };
}
