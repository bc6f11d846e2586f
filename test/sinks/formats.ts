import { join } from "node:path";
import { duckDbSink } from "../../src/database/build-database.js";
import type { Format } from "../../src/job/job.js";
import { allKinds, type Kind } from "../../src/rows/columns.js";
import { csvSink, csvText } from "../../src/sinks/csv.js";
import { jsonlSink } from "../../src/sinks/jsonl.js";
import { parquetSink } from "../../src/sinks/parquet.js";
import type { Sink } from "../../src/sinks/sink.js";
import { type Cells, readCsvFile, readJsonlFile, readParquetFile, readTable } from "./read-back.js";

/** A format as the contract suite sees it; `base` is the folder of a stage. */
export interface Subject {
  readonly format: Format;
  readonly sink: (base: string) => Sink;
  /** The files that it leaves in the run folder. */
  readonly files: readonly string[];
  /** The cells of a kind as text, read by DuckDB's own reader; their types are checked on the way. */
  readonly read: (base: string, kind: Kind) => Promise<Cells>;
}

export const duckDbOptions = (base: string) => ({ memory: "800MB", temporary: join(base, "scratch", "spill") });

/** The database that the DuckDB sink makes. */
export const databaseOf = (base: string) => join(base, "scratch", "new.duckdb");

const stageFolder = (base: string) => join(base, "stage");
const filesOf = (format: Format) => allKinds.map((kind) => `${kind}.${format}`);

export const subjects: readonly Subject[] = [
  {
    format: "jsonl",
    sink: () => jsonlSink,
    files: filesOf("jsonl"),
    read: (base, kind) => readJsonlFile(stageFolder(base), kind),
  },
  {
    format: "csv",
    sink: () => csvSink(csvText(false)),
    files: filesOf("csv"),
    read: (base, kind) => readCsvFile(stageFolder(base), kind),
  },
  {
    format: "parquet",
    sink: (base) => parquetSink(duckDbOptions(base)),
    files: filesOf("parquet"),
    read: (base, kind) => readParquetFile(stageFolder(base), kind),
  },
  {
    format: "duckdb",
    sink: (base) => duckDbSink({ ...duckDbOptions(base), previous: undefined, target: databaseOf(base), waiting: [] }),
    files: [],
    read: (base, kind) => readTable(databaseOf(base), kind),
  },
];
