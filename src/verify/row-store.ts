import { hash } from "node:crypto";
import { join } from "node:path";
import { type Connection, lackOf, memoryShare, withDuckDb } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import type { DumpTable } from "../dump/manifest.js";
import { UnreadableError } from "../files/files.js";
import { columns, type Kind, namesWith } from "../rows/columns.js";
import { makeTemporaryFolder } from "../temporary-folder.js";
import { countOf } from "../words.js";
import type { Verifying } from "./check-files.js";
import { type Findings, listedPerKind } from "./findings.js";
import { canonicalRow, RowError, type RowText, unguardedRow, unguardedText } from "./readers/canonical-cells.js";
import { type Loaded, type RowSource, tableRows } from "./readers/sources.js";

/** The names of the columns that identify a row, the same for every kind. */
export const locationColumns = ["dataset_id", "document_id", "parent", "id"] as const;

interface RowStoreOptions extends Verifying {
  /** Maximum memory of both DuckDB instances together, such as `800MB`. */
  readonly memory: string;
  /** Whether formulas in CSV may start with apostrophes of `csv_safe`. Then every row is also hashed without them. */
  readonly unguarded: boolean;
}

/**
 * Runs `work` with two DuckDB instances: one reads, the other stores, because an instance that streams can do nothing else. They
 * spill to the system's temporary folder, and the files are removed.
 */
export async function withRowStore<T>(options: RowStoreOptions, work: (store: RowStore) => Promise<T>): Promise<T> {
  const { memory, signal } = options;
  await using temporary = await makeTemporaryFolder("verify");
  const part = (name: string, share: number) => {
    return { memory: memoryShare(memory, share), temporary: join(temporary.path, name), signal };
  };
  try {
    // One reading thread is enough, because the consumer is slower, and every thread needs memory.
    return await withDuckDb(":memory:", { ...part("read", 0.75), threads: 1 }, (reader) =>
      withDuckDb(":memory:", part("store", 0.25), (connection) => work(new RowStore(reader, connection, options))),
    );
  } catch (error) {
    throw lackOf(error, memory) ?? error;
  }
}

/** Keeps rows until they are compared, in a DuckDB that spills to disk, and collects findings about them. */
export class RowStore {
  readonly reader: Connection;
  readonly findings: Findings;
  readonly unguarded: boolean;
  readonly #connection: Connection;
  readonly #options: RowStoreOptions;
  #tables = 0;

  constructor(reader: Connection, connection: Connection, options: RowStoreOptions) {
    this.reader = reader;
    this.#connection = connection;
    this.#options = options;
    this.findings = options.findings;
    this.unguarded = options.unguarded;
  }

  /** The rows of a statement as JSON values: large integers are texts. */
  query(sql: string): Promise<readonly SqlRow[]> {
    return rowsOf(this.#connection, sql);
  }

  /** The number of rows of a relation, and its first rows in a given order. */
  async sample(relation: string, order: string): Promise<{ readonly rows: readonly SqlRow[]; readonly count: number }> {
    const [counted] = await this.query(`SELECT count(*) AS count FROM ${relation}`);
    const count = Number(counted?.count);
    const rows = count > 0 ? await this.query(`FROM ${relation} ORDER BY ${order} LIMIT ${listedPerKind}`) : [];
    return { rows, count };
  }

  /**
   * Reads a source to its end. If that fails, records a finding and returns undefined. Rows that are not compared need no hashes, which
   * saves a sixth of the time.
   */
  async load(source: RowSource, isCompared = true): Promise<Loaded | undefined> {
    const table = `rows_${++this.#tables}`;
    const names = locationColumns.map((name) => `${name} VARCHAR`).join(", ");
    const hashes = isCompared ? ", hash VARCHAR, unguarded VARCHAR" : "";
    await this.#connection.run(`CREATE TABLE ${table} (row BIGINT, ${names}${hashes})`);
    const appender = await this.#connection.createAppender(table);
    const append = rowAppender(appender, source.kind, isCompared, this.unguarded);
    const { signal, progress } = this.#options;
    const counts: number[] = [];
    let [rows, name] = [0, source.name];
    try {
      for (const file of source.files) {
        name = file.name;
        const before = rows;
        const problem: Problem = (message, kind = "is not a row") =>
          this.findings.add(file.name, kind, `row ${rows - before} ${message}`);
        const checkLocation = locationCheck(file.dataset, problem);
        for await (const some of file.read(isCompared)) {
          const first = rows;
          for (const row of some) {
            rows++;
            try {
              if (row instanceof RowError) throw row;
              checkLocation(row);
              append(rows, row);
            } catch (error) {
              if (!(error instanceof RowError)) throw error;
              problem(error.message);
            }
          }
          signal.throwIfAborted();
          progress.step = `reading ${source.name}`;
          progress.done += (rows - first) * (source.bytesPerRow ?? 0);
        }
        counts.push(rows - before);
      }
      return { ...source, table, rows, counts };
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      this.findings.add(name, "cannot be read", `cannot be read: ${error.message}`);
      return undefined;
    } finally {
      appender.closeSync();
    }
  }
}

/** Called if the current row has a problem; `kind` names it in a word or two, for counting. */
type Problem = (message: string, kind?: string) => void;

/** Checks that the rows of a partition belong to its dataset, and that their documents are sorted by id. */
function locationCheck(dataset: string | undefined, report: Problem): (row: RowText) => void {
  let last = "";
  return ([its, id]) => {
    if (dataset === undefined) return;
    if (its != null && its !== dataset && unguardedText(its) !== dataset)
      return report(`is of dataset ${its}, and lies in the partition of another`, "in another partition");
    if (id == null) return;
    if (id < last) report(`is of document ${id}, which belongs before document ${last}`, "order of documents");
    last = id;
  };
}

type Appender = Awaited<ReturnType<Connection["createAppender"]>>;

function rowAppender(appender: Appender, kind: Kind, isCompared: boolean, unguarded: boolean) {
  const names = columns[kind].map(({ name }) => name);
  const required = namesWith(kind, "document", "parent", "id").map((name) => names.indexOf(name)); // a row without one of them cannot be identified
  const [parent] = namesWith(kind, "parent");
  const [id] = namesWith(kind, "id");
  const places = ["dataset_id", "document_id", parent, id].map((name) => (name ? names.indexOf(name) : -1));
  const append = (value: string | null) => {
    if (value === null) appender.appendNull();
    else appender.appendVarchar(value);
  };
  return (row: number, text: RowText) => {
    const whole = canonicalRow(kind, text);
    const bare = unguarded ? unguardedRow(text) : text;
    for (const place of required) if (text[place] == null) throw new RowError(`has no ${names[place]}`);
    appender.appendBigInt(BigInt(row));
    for (const place of places) append(bare[place] ?? null);
    if (isCompared) {
      append(rowHash(whole));
      append(unguarded ? rowHash(canonicalRow(kind, bare)) : null);
    }
    appender.endRow();
  };
}

/** 132 bits of the SHA-256 of canonical cells. */
function rowHash(cells: RowText): string {
  return hash("sha256", textOfRow(cells), "base64").slice(0, 22);
}

/**
 * Encodes cells as one text, different for every row: the lengths of the cells, followed by the cells. JSON takes twice as long, but only
 * JSON distinguishes a lone surrogate from the replacement character in UTF-8.
 */
export function textOfRow(cells: RowText): string {
  let lengths = "";
  for (const cell of cells) lengths += cell === null ? "-," : `${cell.length},`;
  const text = lengths + cells.join("");
  return text.isWellFormed() ? text : JSON.stringify(cells);
}

/**
 * Reads the rows of a run folder's tables and checks their number against the manifest. Leaves out tables that cannot be read or
 * whose format has no reader. `isCompared`: whether to compare a table even if it is the only one of its kind.
 */
export async function loadTables(
  store: RowStore,
  folder: string,
  tables: readonly DumpTable[],
  isCompared: boolean,
): Promise<readonly Loaded[]> {
  const all: Loaded[] = [];
  for (const table of tables) {
    const { kind, files } = table;
    const isOneOfMany = kind === "documents" || tables.filter((other) => other.kind === kind).length > 1;
    const source = tableRows(store.reader, folder, table);
    const loaded = source && (await store.load(source, isCompared || isOneOfMany));
    if (!loaded) continue;
    all.push(loaded);
    for (const [at, { path, rows: listed }] of files.entries()) {
      const rows = loaded.counts[at] ?? 0;
      if (rows !== listed) store.findings.add(path, "rows", `has ${countOf(rows, "row")}, the manifest says ${listed}`);
    }
  }
  return all;
}
