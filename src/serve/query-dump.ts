import { tmpdir } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Listed } from "../demo/knowledge.js";
import { type Connection, lackOf, openDuckDb, withDuckDb } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/read-rows.js";
import { checkRowCounts } from "../dump/load.js";
import type { DumpTable } from "../dump/manifest.js";
import type { Dump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import type { ReadProgress } from "../read-progress.js";
import { allKinds, type Kind } from "../rows/columns.js";
import { parseJson } from "../rows/exact-json.js";
import { documentKey, type Row } from "../rows/row.js";
import { recordFromRow } from "../rows/row-from-record.js";
import { makeTemporaryFolder } from "../temporary-folder.js";

const memory = "800MB";

/** The kinds of rows to load. Documents come from the manifest instead. */
const kinds = allKinds.filter((kind) => kind !== "documents");

/** The column by which a row is found, besides dataset and document. */
const keyColumns = { chunks: "id", child_chunks: "segment_id", indexing_status: "batch" } as const;
type KeyedKind = keyof typeof keyColumns;

/** Selects rows by dataset id, document id, status, and a keyword in the content, ignoring case. */
export interface RowFilter {
  readonly dataset_id: string;
  readonly document_id?: string;
  readonly statuses?: readonly string[];
  readonly keyword?: string;
  /** Only rows with one of these keys: chunks by their ids, child chunks by their chunks' ids, statuses by their batches. */
  readonly keys?: readonly string[];
}

interface Page {
  readonly first: number;
  readonly limit: number;
}

/** Maximum cached prepared statements. */
const mostStatements = 100;

interface LoadOptions {
  readonly signal: AbortSignal;
  readonly progress: ReadProgress;
}

/**
 * The rows of a dump in a temporary DuckDB file, indexed by id. Each is stored as its line of JSON, so that numbers stay exact.
 * After opening, the dump may be moved or deleted.
 */
export class DumpDatabase {
  /** The bytes of the longest child list of each document, by `documentKey`. */
  readonly longestLists: ReadonlyMap<string, number>;
  readonly #connection: Connection;
  readonly #close: () => Promise<void>;
  /** Prepared statements by SQL text. */
  readonly #statements = new Map<string, Awaited<ReturnType<Connection["prepare"]>>>();
  readonly #oneByOne = pLimit(1); // a connection runs one statement at a time

  private constructor(connection: Connection, longestLists: ReadonlyMap<string, number>, close: () => Promise<void>) {
    this.#connection = connection;
    this.longestLists = longestLists;
    this.#close = close;
  }

  /** Reads every file of the dump once. Throws StopError if the dump differs from its manifest, or has rows only in inexact formats. */
  static async load(dump: Dump, options: LoadOptions): Promise<DumpDatabase> {
    const tables = kinds.flatMap((kind) => tableOf(dump, kind) ?? []);
    const temporary = await makeTemporaryFolder("serve").catch((error: NodeJS.ErrnoException) => {
      const hint = "set TMPDIR to a folder that can be written to";
      throw new StopError(`the rows cannot be copied to ${tmpdir()}: ${error.code}; ${hint}`);
    });
    const { path: folder, [Symbol.asyncDispose]: remove } = temporary;
    try {
      const path = join(folder, "rows.duckdb");
      const columns = ["dataset_id", "document_id", "key", "status", "line"].map((name) => `${name} VARCHAR`);
      for (const table of tables) options.progress.expected += 2 * table.bytes;
      const duckdb = { memory, temporary: folder, signal: options.signal };
      const longest = await withDuckDb(path, duckdb, async (connection) => {
        for (const kind of kinds) await connection.run(`CREATE TABLE ${kind} (${columns.join(", ")})`);
        for (const table of tables) await loadTable(connection, dump, table, { ...options, folder });
        return readLongestLists(connection);
      });
      const loaded = await openDuckDb(path, { memory, temporary: folder, readOnly: true });
      await remove().catch(() => {}); // the open file stays readable until it is closed, even though its name is gone
      return new DumpDatabase(loaded.connection, longest, async () => {
        loaded.close();
        await remove(); // for systems that cannot remove an open file
      });
    } catch (error) {
      await remove();
      options.signal.throwIfAborted();
      throw lackOf(error, memory) ?? error;
    }
  }

  /** The rows in the order of the dump. */
  async rows(kind: Kind, filter: RowFilter, page?: Page): Promise<readonly Row[]> {
    const { where, values } = conditionOf(filter, kind);
    const at = values.length;
    const range = page ? ` LIMIT $${at + 1}::BIGINT OFFSET $${at + 2}::BIGINT` : "";
    const bounds = page ? [String(page.limit), String(page.first)] : [];
    // The keys are found in a table of their own first. Otherwise DuckDB reads all rows in the order of their ids, and does
    // not use the index.
    const from = filter.keys ? "found" : `${kind} ${where}`;
    const table = `WITH found AS MATERIALIZED (SELECT rowid, line FROM ${kind} ${where})`;
    const sql = `${filter.keys ? table : ""} SELECT line FROM ${from} ORDER BY rowid${range}`;
    const found = await this.#ask(sql, [...values, ...bounds]);
    return found.map(([line]) => rowOfLine(String(line), parseJson));
  }

  /** The rows as the service sent them. */
  async records(kind: Kind, filter: RowFilter, page?: Page): Promise<readonly Listed[]> {
    return (await this.rows(kind, filter, page)).map((row) => recordOf(kind, row));
  }

  async count(kind: Kind, filter: RowFilter): Promise<number> {
    const { where, values } = conditionOf(filter, kind);
    const [[rows] = []] = await this.#ask(`SELECT count(*)::INTEGER FROM ${kind} ${where}`, values);
    return Number(rows);
  }

  async close(): Promise<void> {
    await this.#oneByOne(this.#close);
  }

  async #ask(sql: string, values: readonly string[]) {
    return this.#oneByOne(async () => {
      const statement = this.#statements.get(sql) ?? (await this.#connection.prepare(sql));
      if (this.#statements.size < mostStatements) this.#statements.set(sql, statement);
      for (const [at, value] of values.entries()) statement.bindVarchar(at + 1, value);
      return (await statement.runAndReadAll()).getRowsJson();
    });
  }
}

/** The bytes of the longest child list of each document, by `documentKey`. */
async function readLongestLists(connection: Connection): Promise<ReadonlyMap<string, number>> {
  const ids = "dataset_id, document_id";
  const lists = `SELECT ${ids}, sum(strlen(line)) AS bytes FROM child_chunks GROUP BY ${ids}, key`;
  const rows = await rowsOf(connection, `SELECT ${ids}, max(bytes)::DOUBLE AS bytes FROM (${lists}) GROUP BY ${ids}`);
  return new Map(rows.map((row) => [documentKey(row), Number(row.bytes)]));
}

/** The service's record for a row. */
export function recordOf(kind: Kind, row: Row): Listed {
  const record = recordFromRow(kind, row);
  return { ...record, id: String(record.id) };
}

/** The table of a kind; undefined for a kind that the run did not write. Throws StopError if no exact table can be read. */
function tableOf(dump: Dump, kind: Kind): DumpTable | undefined {
  const [table] = dump.tablesOf([kind]) ?? [];
  if (table || dump.manifest.counts[kind] === undefined) return table;
  const { files, options } = dump.manifest;
  const needs = "a dump is served from jsonl, parquet or csv, best from jsonl";
  const reason =
    files.length === 0
      ? `the run wrote none of its files, only the database; ${needs}`
      : options.output.csv_safe
        ? "the run wrote csv alone, with csv_safe, which is not lossless"
        : `some of its files are missing; ${needs}`;
  throw new StopError(`${dump.folder} cannot be served: ${reason}`);
}

async function loadTable(
  connection: Connection,
  dump: Dump,
  table: DumpTable,
  { signal, progress, folder }: LoadOptions & { readonly folder: string },
): Promise<void> {
  const { kind, path, bytes } = table;
  progress.step = `hashing ${path}`;
  const checked = await dump.check(table, (piece) => {
    signal.throwIfAborted();
    progress.done += piece;
  });
  progress.step = `loading ${path}`;
  const appender = await connection.createAppender(kind);
  const append = (value: unknown) =>
    typeof value === "string" ? appender.appendVarchar(value) : appender.appendNull();
  const keyOfRow = (row: Row) =>
    isKeyed(kind) ? keyOf(kind, { ...row, dataset_id: row.dataset_id, key: row[keyColumns[kind]] }) : null;
  try {
    for await (const lines of dump.lines(checked, { memory, temporary: folder, signal })) {
      for (const line of lines) {
        const row = rowOfLine(line, JSON.parse);
        for (const value of [row.dataset_id, row.document_id, keyOfRow(row), row.status, line]) append(value);
        appender.endRow();
      }
      signal.throwIfAborted();
    }
  } catch (error) {
    throw dump.unreadable(table, error);
  } finally {
    appender.closeSync();
  }
  progress.done += bytes;
  if (!isKeyed(kind)) return;
  if (kind !== "indexing_status") await checkRowCounts(connection, kind, dump, table, dump.manifest.documents);
  await connection.run(`CREATE INDEX ${kind}_by_key ON ${kind} (key)`);
}

function rowOfLine(line: string, parse: (text: string) => unknown): Row {
  const value = parse(line);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new SyntaxError("a row is not a JSON object");
}

/** SQL: the rows that match a filter. The index is used only if there is no other condition than a key. */
function conditionOf({ dataset_id, document_id, statuses = [], keyword = "", keys }: RowFilter, kind: Kind) {
  const values: string[] = [];
  const value = (text: string) => `$${values.push(text)}`;
  const isOneOf = (column: string, texts: readonly string[]) =>
    texts.length === 1 ? `${column} = ${texts.map(value)}` : `${column} IN (${texts.map(value).join(", ")})`;
  const conditions = [
    ...(keys
      ? [
          isOneOf(
            "key",
            keys.map((key) => keyOf(kind, { dataset_id, document_id, key })),
          ),
        ]
      : [
          isOneOf("dataset_id", [dataset_id]),
          ...(document_id === undefined ? [] : [isOneOf("document_id", [document_id])]),
        ]),
    ...(statuses.length === 0 ? [] : [isOneOf("status", statuses)]),
    ...(keyword === "" ? [] : [`contains(lower(line ->> '$.content'), lower(${value(keyword)}))`]),
  ];
  return { where: `WHERE ${conditions.join(" AND ")}`, values };
}

/** The key combined with its dataset and document. A batch may have several documents. */
function keyOf(
  kind: Kind,
  { dataset_id, document_id, key }: { dataset_id: unknown; document_id?: unknown; key: unknown },
): string {
  return JSON.stringify(kind === "indexing_status" ? [dataset_id, key] : [dataset_id, document_id, key]);
}

function isKeyed(kind: Kind): kind is KeyedKind {
  return kind in keyColumns;
}
