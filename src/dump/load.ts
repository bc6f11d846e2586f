import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/read-rows.js";
import type { ReadProgress } from "../read-progress.js";
import { documentKey } from "../rows/row.js";
import { countOf } from "../words.js";
import { unguardedRows } from "./formats/csv.js";
import type { DumpTable } from "./manifest.js";
import type { CheckedTable, Dump } from "./open-dump.js";

/** How the rows of a table are read. */
export interface ReadRowsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Updated while bytes are hashed. */
  readonly progress?: ReadProgress | undefined;
  /** The step that the tally shows meanwhile; `hashing <file>` by default. */
  readonly step?: string;
  /** JSON as text, which is the default, or as DuckDB's type JSON. */
  readonly json?: "JSON" | "VARCHAR";
  /** False: fractions of more digits than a double holds may be rounded, which takes a half to a third of the time. */
  readonly exact?: boolean;
  /** Whether texts lose the apostrophes that `csv_safe` put before them. */
  readonly unguarded?: boolean;
}

/** A table of a dump whose bytes were checked. */
export interface CheckedRows extends CheckedTable {
  /** SQL: its rows, in parentheses. They are streamed from the files. */
  readonly sql: string;
}

/** Reads every byte of a table, and gives the SQL of its rows. StopError when a file is not as its run wrote it. */
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

/** A table to be made in DuckDB. */
interface LoadedTable {
  readonly name: string;
  /** SQL: a statement about the rows, which are given in parentheses; all of them by default. */
  readonly statement?: (rows: string) => string;
  /** The documents whose rows are counted against the manifest; absent: no rows are counted. */
  readonly counted?: readonly DocumentIds[];
}

/**
 * Loads rows of a dump into a table of DuckDB, within its bound of memory. StopError when a file cannot be read, or when a counted
 * document has other than as many rows as the manifest says.
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

/** The ids of a document. */
interface DocumentIds {
  readonly dataset_id: string;
  readonly document_id: string;
}

/**
 * Proves that a table of DuckDB has as many rows of each of some documents as the manifest says, and no rows of others. A hash of the
 * file does not show that a reader lost some. StopError, naming a document, where the numbers differ.
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
