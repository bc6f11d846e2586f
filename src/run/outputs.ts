import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../job/job.js";
import { csvSink, csvText } from "../sinks/csv.js";
import { duckDbSink } from "../sinks/duckdb.js";
import { jsonlSink, jsonlText } from "../sinks/jsonl.js";
import { parquetSink } from "../sinks/parquet.js";
import type { JsonlFile, Sink, TextFormat } from "../sinks/sink.js";
import type { Workspace } from "./workspace.js";

/** What a job writes. */
export interface Outputs {
  /** Written during the crawl: JSONL always, because the others are loaded from it. */
  readonly formats: readonly TextFormat[];
  /** Finished at the end, in this order. */
  readonly sinks: readonly Sink[];
  /** The database that is built aside; undefined when none is asked for. */
  readonly newDatabase: string | undefined;
}

/** The formats and sinks that a job asks for; `waiting` are readings of the indexing status for its database. */
export async function outputsOf(
  job: Job,
  workspace: Workspace,
  waiting: readonly JsonlFile[],
  signal: AbortSignal,
): Promise<Outputs> {
  const asked = new Set(job.output.formats);
  const csv = csvText(job.output.csvSafe);
  const options = { memory: job.output.memory, temporary: join(workspace.scratch, "spill"), signal };
  const previous = await access(workspace.database).then(
    () => workspace.database,
    () => undefined,
  );
  const target = join(workspace.scratch, "new.duckdb");
  const sinks = [jsonlSink, csvSink(csv), parquetSink(options), duckDbSink({ ...options, previous, target, waiting })];
  return {
    formats: asked.has("csv") ? [jsonlText, csv] : [jsonlText],
    sinks: sinks.filter(({ format }) => asked.has(format)),
    newDatabase: asked.has("duckdb") ? target : undefined,
  };
}
