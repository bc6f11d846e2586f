import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { kinds } from "../../src/rows/columns.js";
import { csvSink, csvText } from "../../src/sinks/csv.js";
import { jsonlSink } from "../../src/sinks/jsonl.js";
import { parquetSink } from "../../src/sinks/parquet.js";
import type { StagedFile } from "../../src/sinks/sink.js";
import { stageOf, type Tables } from "../sinks/stage.js";

export interface WriteOptions {
  readonly formats?: readonly ("jsonl" | "csv" | "parquet")[];
  readonly csvSafe?: boolean;
  /** More options of the job, as the manifest has them. */
  readonly options?: object;
  /** More members of the manifest. */
  readonly manifest?: object;
}

/** Writes rows as a run would, true or not, with a manifest that agrees; gives the run folder. */
export async function writeDump(base: string, tables: Tables, options: WriteOptions = {}): Promise<string> {
  const { formats = ["jsonl"], csvSafe = false } = options;
  const stage = await stageOf(base, tables, { publishJsonl: formats.includes("jsonl"), csvSafe });
  const sinks = {
    jsonl: jsonlSink,
    csv: csvSink(csvText(csvSafe)),
    parquet: parquetSink({ memory: "800MB", temporary: join(base, "spill") }),
  };
  const files: StagedFile[] = [];
  for (const format of formats) files.push(...(await sinks[format].finish(stage)));
  const count = (kind: (typeof kinds)[number]) => tables[kind].length;
  const manifest = {
    format: 1,
    tool: { name: "kbdump", version: "0.1.0" },
    job: "test",
    run_id: "20250306T132000000Z",
    status: tables.documents.every(({ status }) => status === "complete") ? "complete" : "partial",
    started_at: "2025-03-06T13:20:00.000Z",
    finished_at: "2025-03-06T13:20:01.250Z",
    service: { base_url: "https://kb.example.com/v1" },
    options: { output: { formats, csv_safe: csvSafe }, ...options.options },
    counts: {
      chunks: count("chunks"),
      child_chunks: count("child_chunks"),
      documents: count("documents"),
      indexing_status: count("indexing_status"),
      metadata_fields: count("metadata_fields"),
      ...(tables.document_info ? { document_info: tables.document_info.length } : {}),
    },
    requests: { sent: 1, retried: 0, throttled: 0, bytes: 1 },
    documents: tables.documents,
    files,
    drift: {},
    warnings: [],
    ...options.manifest,
  };
  await writeFile(join(stage.folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return stage.folder;
}
