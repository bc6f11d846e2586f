import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../job/job.js";
import { jsonlSink, jsonlText } from "../sinks/jsonl.js";
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
  const formats: TextFormat[] = [jsonlText];
  const sinks: Sink[] = [];
  const asked = new Set(job.output.formats);
  const options = { memory: job.output.memory, temporary: join(workspace.scratch, "spill"), signal };
  const previous = await access(workspace.database).then(
    () => workspace.database,
    () => undefined,
  );
  const target = join(workspace.scratch, "new.duckdb");
  // a format is loaded where it is asked for
  if (asked.has("jsonl")) sinks.push(jsonlSink);
  if (asked.has("csv")) {
    const { csvSink, csvText } = await import("../sinks/csv.js");
    const csv = csvText(job.output.csvSafe);
    formats.push(csv);
    sinks.push(csvSink(csv));
  }
  if (asked.has("parquet")) {
    const { parquetSink } = await import("../sinks/parquet.js");
    sinks.push(parquetSink(options));
  }
  if (asked.has("duckdb")) {
    const { duckDbSink } = await import("../sinks/duckdb.js");
    sinks.push(duckDbSink({ ...options, previous, target, waiting }));
  }
  return { formats, sinks, newDatabase: asked.has("duckdb") ? target : undefined };
}
