import { join } from "node:path";
import { jsonlSink, jsonlText } from "../../sinks/jsonl.js";
import type { Sink, TextFormat } from "../../sinks/sink.js";
import type { DatabaseSinkOptions } from "./database-sink.js";
import { databaseOptions, newDatabase } from "./job-database.js";

/** The files and sinks of a job. */
export interface Outputs {
  /** Written during the crawl: JSONL always, because the others are loaded from it. */
  readonly formats: readonly TextFormat[];
  /** Finished at the end, in this order. */
  readonly sinks: readonly Sink[];
  /** The database that is built aside; undefined when none is asked for. */
  readonly newDatabase: string | undefined;
}

/** The formats and sinks that a job asks for; a format is loaded only where it is. */
export async function outputsOf(options: DatabaseSinkOptions): Promise<Outputs> {
  const { job, workspace, signal } = options;
  const formats: TextFormat[] = [jsonlText];
  const sinks: Sink[] = [];
  const asked = new Set(job.output.formats);
  if (asked.has("jsonl")) sinks.push(jsonlSink);
  if (asked.has("csv")) {
    const { csvSink, csvText } = await import("../../sinks/csv.js");
    const csv = csvText(job.output.csvSafe);
    formats.push(csv);
    sinks.push(csvSink(csv));
  }
  if (asked.has("parquet")) {
    const { parquetSink } = await import("../../sinks/parquet.js");
    const temporary = join(workspace.scratch, "spill");
    sinks.push(parquetSink({ ...databaseOptions(job, workspace, signal), temporary }));
  }
  if (asked.has("duckdb")) {
    const { jobDatabaseSink } = await import("./database-sink.js");
    sinks.push(jobDatabaseSink(options));
  }
  return { formats, sinks, newDatabase: asked.has("duckdb") ? join(workspace.scratch, newDatabase) : undefined };
}
