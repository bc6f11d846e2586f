import { join } from "node:path";
import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/read-rows.js";
import type { ReadProgress } from "../read-progress.js";
import { jsonText } from "../rows/exact-json.js";
import { documentKey } from "../rows/row.js";
import { countOf } from "../words.js";
import { unguardedRows } from "./formats/csv.js";
import type { DumpTable } from "./manifest.js";
import type { CheckedTable, Dump } from "./open-dump.js";

/** How the rows of a table are read. */
export interface ReadRowsOptions {
  readonly signal?: AbortSignal | undefined;
  /** The progress, which is updated while files are hashed. */
  readonly progress?: ReadProgress | undefined;
  /** The step to show in the progress; default: `hashing <file>`. */
  readonly step?: string;
  /** JSON as text (the default) or as DuckDB's type JSON. */
  readonly json?: "JSON" | "VARCHAR";
  /**
   * Whether numbers stay exact. If false, fractions with more digits than a double holds may be rounded, and reading takes a
   * half to a third of the time.
   */
  readonly exact?: boolean;
  /** Whether to remove the apostrophes that `csv_safe` added. */
  readonly unguarded?: boolean;
}

/** A table of a dump with verified bytes. */
export interface CheckedRows extends CheckedTable {
  /** SQL: its rows, in parentheses, streamed from the files. */
  readonly sql: string;
}

/** Reads every byte of a table and returns the SQL for its rows. Throws StopError if a file differs from what the run wrote. */
export async function checkRows(dump: Dump, table: DumpTable, options: ReadRowsOptions = {}): Promise<CheckedRows> {
  const {
    signal,
    progress,
    step = `hashing ${table.path}`,
    json = "VARCHAR",
    exact = true,
    unguarded = false,
  } = options;
  if (progress) progress.step = step;
  const checked = await dump.check(table, (bytes) => {
    signal?.throwIfAborted();
    if (progress) progress.done += bytes;
  });
  const select = await dump.select(exact ? checked : { ...checked, longNumbers: false }, json);
  return { ...checked, sql: unguarded ? unguardedRows(checked.kind, select) : `(${select})` };
}

/**
 * The rows of a table, for a caller that compares the bytes with the manifest on its own. Checks only the sizes of the files. The
 * statement cannot read a row of 16 MB or more. Throws StopError if a file is missing or has another size.
 */
export async function uncheckedRows(dump: Dump, table: DumpTable, options: ReadRowsOptions = {}): Promise<CheckedRows> {
  await dump.checkSizes(table.files);
  const { kind, format, path, rows, files } = table;
  const paths = files.map((file) => join(dump.folder, file.path));
  const unchecked = { kind, format, path, rows, paths, longestLine: 0, longNumbers: options.exact !== false };
  const select = await dump.select(unchecked, options.json ?? "VARCHAR");
  return { ...unchecked, sql: options.unguarded ? unguardedRows(kind, select) : `(${select})` };
}

/** A table to create in DuckDB. */
interface LoadedTable {
  readonly name: string;
  /** SQL: a statement on the rows, which it gets in parentheses; default: all of them. */
  readonly statement?: (rows: string) => string;
  /** The documents whose rows to count and compare with the manifest; absent: no comparison. */
  readonly counted?: readonly DocumentIds[];
}

/**
 * Loads rows of a dump into a DuckDB table, within its memory limit. Throws StopError if a file cannot be read, or if a counted
 * document does not have as many rows as the manifest says.
 */
export async function loadRows(
  connection: Connection,
  dump: Dump,
  rows: CheckedRows,
  { name, statement = (source) => `FROM ${source}`, counted }: LoadedTable,
): Promise<void> {
  await connection.run(`CREATE TABLE ${name} AS ${statement(rows.sql)}`).catch((error: unknown) => {
    throw dump.unreadable(rows, error);
  });
  if (counted) await checkRowCounts(connection, name, dump, rows, counted);
}

interface DocumentIds {
  readonly dataset_id: string;
  readonly document_id: string;
}

/**
 * Checks that a DuckDB table has as many rows of some documents as the manifest says, and no rows of others. Needed because a
 * reader may lose rows even if the hash of the file is right. Throws StopError, naming a document, if the numbers differ.
 */
export async function checkRowCounts(
  connection: Connection,
  table: string,
  dump: Dump,
  { kind, path }: Pick<DumpTable, "kind" | "path">,
  documents: readonly DocumentIds[],
): Promise<void> {
  const column = kind === "chunks" ? "chunk_count" : "child_chunk_count";
  const listed = new Map(dump.manifest.documents.map((document) => [documentKey(document), document[column]]));
  const loaded = await rowsOf(
    connection,
    `SELECT dataset_id, document_id, count(*) AS rows FROM ${table} GROUP BY ALL ORDER BY document_id`,
  );
  const left = new Map(documents.map((document) => [documentKey(document), listed.get(documentKey(document)) ?? 0]));
  const refuse = (id: unknown, rows: number, expected: number) =>
    dump.unsound(`${path}: has ${countOf(rows, "row")} of document ${id}, but the manifest says ${expected}`);
  for (const row of loaded) {
    const expected = left.get(documentKey(row)) ?? 0;
    if (Number(row.rows) !== expected) throw refuse(row.document_id, Number(row.rows), expected);
    left.delete(documentKey(row));
  }
  for (const { dataset_id, document_id } of documents) {
    const expected = left.get(documentKey({ dataset_id, document_id })) ?? 0;
    if (expected > 0) throw refuse(document_id, 0, expected);
  }
}

/** Makes a table of these rows, replacing an existing one. `columns`: their types in DuckDB. */
export async function loadList(
  connection: Connection,
  name: string,
  rows: readonly object[],
  columns: Readonly<Record<string, string>>,
): Promise<void> {
  const statement = await connection.prepare(
    `CREATE OR REPLACE TABLE ${name} AS SELECT unnest(from_json($1::JSON, $2), recursive := true)`,
  );
  statement.bindVarchar(1, jsonText(rows));
  statement.bindVarchar(2, JSON.stringify([columns]));
  await statement.run();
}
