import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildFromStaged } from "../../src/database/build-database.js";
import type { RunRow } from "../../src/database/tables.js";
import type { RowFiles } from "../../src/dump/formats/format.js";
import { jsonlText } from "../../src/dump/formats/jsonl.js";
import { encodeLines } from "../../src/files/lines.js";
import type { Row } from "../../src/rows/row.js";
import { plainFolder } from "../dump/formats/folder.js";
import { databaseOf, duckDbOptions } from "../dump/formats/formats.js";
import { stageOf, type Tables } from "../dump/formats/stage.js";
import { query } from "./query.js";

export const dataset = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";

type Fields = Readonly<Record<string, unknown>>;

/** A row with the fields that the test needs; other columns are null. */
export const chunk = (document_id: string, id: string, more: Fields = {}): Row => ({
  dataset_id: dataset,
  document_id,
  id,
  ...more,
});
export const child = (document_id: string, segment_id: string, id: string): Row => ({
  dataset_id: dataset,
  document_id,
  segment_id,
  id,
});
export const read = (document_id: string, status = "complete", more: Fields = {}): Row => ({
  dataset_id: dataset,
  document_id,
  status,
  ...more,
});
export const field = (dataset_id: string, position: number, name: string): Row => ({
  dataset_id,
  position,
  name,
  type: "string",
});
export const reading = (captured_at: string, document_id: string, more: Fields = {}): Row => ({
  captured_at,
  dataset_id: dataset,
  batch: "b",
  document_id,
  ...more,
});

/** The database of a job, updated like in a real run: each run builds a new file and renames it over the old one. */
export class JobDatabase {
  readonly folder: string;
  readonly path: string;
  #exists = false;

  private constructor(folder: string) {
    this.folder = folder;
    this.path = join(folder, "job.duckdb");
  }

  static async create(): Promise<JobDatabase> {
    return new JobDatabase(await plainFolder());
  }

  /** Makes the next run update the existing file. */
  accept(): void {
    this.#exists = true;
  }

  /** Adds a run; returns the folder in which the database was built. */
  async run(
    run_id: string,
    tables: Partial<Tables>,
    more: { run?: Partial<RunRow>; waiting?: readonly RowFiles[]; withoutChildren?: boolean } = {},
  ): Promise<string> {
    const base = await plainFolder();
    const stage = await stageOf(base, tables, { run: { ...more.run, run_id }, rowsPerPart: 1000 });
    const previous = this.#exists ? this.path : undefined;
    const target = { ...duckDbOptions(base), previous, target: databaseOf(base), waiting: more.waiting ?? [] };
    await buildFromStaged({ ...stage, withoutChildren: more.withoutChildren === true }, target);
    await rm(`${this.path}.wal`, { force: true }); // the program does the same
    await rename(databaseOf(base), this.path);
    this.accept();
    return join(base, "scratch");
  }

  query(sql: string): ReturnType<typeof query> {
    return query(sql, this.path);
  }
}

/** Makes a database once for all tests in a file; each test gets its own copy. */
export function madeOnce(make: () => Promise<JobDatabase>): () => Promise<JobDatabase> {
  let bytes: Buffer | undefined;
  return async () => {
    const database = bytes === undefined ? await make() : await JobDatabase.create();
    if (bytes === undefined) bytes = await readFile(database.path);
    else await writeFile(database.path, bytes);
    database.accept();
    return database;
  };
}

/** Writes readings of the indexing status to a file, as `kbdump status` does. */
export async function waitingFile(rows: readonly Row[]): Promise<RowFiles> {
  const path = join(await plainFolder(), "waiting.jsonl");
  const bytes = encodeLines(jsonlText.texts("indexing_status", rows));
  await writeFile(path, bytes);
  return { paths: [path], longestLine: bytes.length };
}
