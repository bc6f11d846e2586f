import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StagedFile } from "../../src/dump/formats/format.js";
import { formats as all } from "../../src/dump/formats/formats.js";
import type { Compression } from "../../src/files/compression.js";
import { type kinds, optionalKinds } from "../../src/rows/columns.js";
import { stageOf, type Tables } from "../dump/formats/stage.js";

export interface WriteOptions {
  readonly formats?: readonly ("jsonl" | "csv" | "parquet")[];
  readonly csvSafe?: boolean;
  readonly compress?: Compression;
  /** Additional job options for the manifest. */
  readonly options?: object;
  /** Additional members of the manifest. */
  readonly manifest?: object;
}

/** Writes any rows, valid or not, like a run, with a matching manifest; returns the run folder. */
export async function writeDump(base: string, tables: Tables, options: WriteOptions = {}): Promise<string> {
  const { formats = ["jsonl"], csvSafe = false, compress = "none" } = options;
  const csv = formats.includes("csv") && (csvSafe ? "safe" : true);
  // Few parts: the files of a dump do not show them, and for some tests, writing hundreds of parts takes most of the time.
  const stage = await stageOf(base, tables, {
    publishJsonl: formats.includes("jsonl"),
    rowsPerPart: 1_000,
    csv,
    compress,
  });
  const duckDb = { memory: "800MB", temporary: join(base, "spill") };
  const files: StagedFile[] = [];
  for (const format of formats) {
    const { openWriter } = await all[format].load();
    files.push(...(await openWriter({ csvSafe, duckDb }).finish(stage)));
  }
  const count = (kind: (typeof kinds)[number]) => tables[kind].length;
  const manifest = {
    format: 3,
    tool: { name: "kbdump", version: "1.0.0" },
    job: "test",
    run_id: "20250306T132000000Z",
    status: tables.documents.every(({ status }) => status === "complete") ? "complete" : "partial",
    started_at: "2025-03-06T13:20:00.000Z",
    finished_at: "2025-03-06T13:20:01.250Z",
    service: { base_url: "https://kb.example.com/v1" },
    options: { output: { formats, csv_safe: csvSafe, compress, partition: "none" }, ...options.options },
    counts: {
      chunks: count("chunks"),
      child_chunks: count("child_chunks"),
      documents: count("documents"),
      indexing_status: count("indexing_status"),
      metadata_fields: count("metadata_fields"),
      ...Object.fromEntries(optionalKinds.flatMap((kind) => (tables[kind] ? [[kind, tables[kind].length]] : []))),
    },
    requests: { sent: 1, retried: 0, throttled: 0, bytes: 1 },
    retries: {},
    child_lists: [],
    proofs: [],
    documents: tables.documents,
    files,
    drift: {},
    warnings: [],
    ...options.manifest,
  };
  await writeFile(join(stage.folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return stage.folder;
}
