import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, memoryLack, memoryShare, withDuckDb } from "../duckdb/open-duckdb.js";
import type { DumpTable, Manifest } from "../dump/manifest.js";
import { columns, type Kind, namesWith } from "../rows/columns.js";
import { countOf } from "../words.js";
import type { Findings } from "./findings.js";
import { canonicalRow, unguardedRow } from "./readers/cells.js";
import {
  locationOfRow,
  type Problem,
  type ReadRow,
  RowError,
  type RowSource,
  type RowText,
  UnreadableError,
} from "./readers/rows.js";
import { tableRows } from "./readers/table-rows.js";

/** A table of what identifies the rows of a source, a hash of each, and nothing else of them. */
export interface Loaded {
  readonly table: string;
  readonly source: RowSource;
  /** Rows, those that could not be read included. */
  readonly rows: number;
}

/** The identity of a row, under the same names for every kind. */
export const locationColumns = ["dataset_id", "document_id", "parent", "id"] as const;

export interface RowStoreOptions {
  /** Also hash every row without the apostrophes of `csv_safe`. */
  readonly unguarded: boolean;
  /** Gets what is wrong with rows. */
  readonly findings: Findings;
  /** Called often while rows are loaded; it may throw to end that. */
  readonly onRows: (source: RowSource, rows: number) => void;
}

type Appender = Awaited<ReturnType<Connection["createAppender"]>>;

/** Keeps rows until they are compared, in a DuckDB that spills to the disk, and findings on them. */
export class RowStore {
  readonly findings: Findings;
  readonly #connection: Connection;
  readonly #options: RowStoreOptions;
  #tables = 0;

  constructor(connection: Connection, options: RowStoreOptions) {
    this.#connection = connection;
    this.#options = options;
    this.findings = options.findings;
  }

  /** The rows of a statement, as JSON has them: large integers are texts. */
  async query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return (await this.#connection.runAndReadAll(sql)).getRowObjectsJson();
  }

  /** Reads a source to its end; undefined when that is not possible, which is a finding. */
  async load(source: RowSource): Promise<Loaded | undefined> {
    const table = `rows_${++this.#tables}`;
    const names = locationColumns.map((name) => `${name} VARCHAR`).join(", ");
    await this.#connection.run(`CREATE TABLE ${table} (row BIGINT, ${names}, hash VARCHAR, unguarded VARCHAR)`);
    const appender = await this.#connection.createAppender(table);
    try {
      const rows = await this.#append(appender, source);
      return { table, source, rows };
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      this.findings.add(error.file ?? source.name, "cannot be read", `cannot be read: ${error.message}`);
      return undefined;
    } finally {
      appender.closeSync();
    }
  }

  async #append(appender: Appender, source: RowSource): Promise<number> {
    const add = rowAppender(appender, source.kind, this.#options.unguarded);
    const problem: Problem = (number, message, kind = "is no row") => {
      const { name, row } = locationOfRow(source, number);
      this.findings.add(name, kind, `row ${row} ${message}`);
    };
    let last = 0;
    for await (const rows of source.read(problem)) {
      const before = last;
      for (const read of rows) {
        last = read.row;
        try {
          add(read);
        } catch (error) {
          if (!(error instanceof RowError)) throw error;
          problem(read.row, error.message);
        }
      }
      this.#options.onRows(source, last - before);
    }
    return last;
  }
}

function rowAppender(appender: Appender, kind: Kind, unguarded: boolean): (read: ReadRow) => void {
  const names = columns[kind].map(({ name }) => name);
  const required = namesWith(kind, "document", "parent", "id").map((name) => names.indexOf(name)); // without one of them, a row cannot be told from another
  const [parent] = namesWith(kind, "parent");
  const [id] = namesWith(kind, "id");
  const places = ["dataset_id", "document_id", parent, id].map((name) => (name ? names.indexOf(name) : -1));
  const append = (value: string | null) => {
    if (value === null) appender.appendNull();
    else appender.appendVarchar(value);
  };
  return ({ row, text }) => {
    if (text === undefined) return;
    const whole = rowHash(kind, text);
    const bare = unguarded ? unguardedRow(text) : text;
    for (const place of required) if (text[place] == null) throw new RowError(`has no ${names[place]}`);
    appender.appendBigInt(BigInt(row));
    for (const place of places) append(bare[place] ?? null);
    append(whole);
    append(unguarded ? rowHash(kind, bare) : null);
    appender.endRow();
  };
}

/** 132 bits of the SHA-256. */
function rowHash(kind: Kind, text: RowText): string {
  return hash("sha256", textOfRow(canonicalRow(kind, text)), "base64").slice(0, 22);
}

/**
 * One text for every row of cells, and no text for two: the lengths of the cells, and then the cells. JSON takes twice as long, but alone
 * tells half a pair of surrogates from the character that UTF-8 has in its place.
 */
export function textOfRow(cells: RowText): string {
  let lengths = "";
  for (const cell of cells) lengths += cell === null ? "-," : `${cell.length},`;
  const text = lengths + cells.join("");
  return text.isWellFormed() ? text : JSON.stringify(cells);
}

interface WithRowStoreOptions extends RowStoreOptions {
  /** The most memory that both may use together, such as `800MB`. */
  readonly memory: string;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` with a DuckDB that reads and another that stores, because one that streams can do nothing else meanwhile.
 * Their spill files go to the system's temporary folder, and are removed.
 */
export async function withRowStore<T>(
  options: WithRowStoreOptions,
  work: (reader: Connection, store: RowStore) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  const temporary = await mkdtemp(join(tmpdir(), "kbdump-verify-"));
  const optionsOf = (name: string, share: number) => ({
    memory: memoryShare(options.memory, share),
    temporary: join(temporary, name),
  });
  try {
    return await withDuckDb(":memory:", optionsOf("read", 0.75), async (reader) => {
      await reader.run("SET threads = 1"); // who takes the rows is the slower one; every thread takes memory
      return withDuckDb(":memory:", optionsOf("store", 0.25), async (connection) => {
        const interrupt = () => {
          reader.interrupt();
          connection.interrupt();
        };
        signal.addEventListener("abort", interrupt);
        try {
          return await work(reader, new RowStore(connection, options));
        } catch (error) {
          signal.throwIfAborted(); // rather than that DuckDB was interrupted
          throw memoryLack(error, options.memory) ?? error;
        } finally {
          signal.removeEventListener("abort", interrupt);
        }
      });
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** A file whose rows are in the store. */
export interface LoadedFile extends Loaded {
  readonly format: string;
}

/**
 * Reads the rows of the tables of a run folder, as many as the manifest says. Those that cannot be read, and those of a format
 * without a reader, are left out.
 */
export async function loadFiles(
  reader: Connection,
  store: RowStore,
  folder: string,
  tables: readonly DumpTable[],
): Promise<readonly LoadedFile[]> {
  const loaded: LoadedFile[] = [];
  for (const table of tables) {
    const source = tableRows(reader, folder, table);
    const rows = source && (await store.load(source));
    if (!rows) continue;
    checkRowCounts(table, rows, store.findings);
    loaded.push({ ...rows, format: table.format });
  }
  return loaded;
}

function checkRowCounts({ files }: DumpTable, { source, rows }: Loaded, findings: Findings): void {
  const found = source.files?.() ?? [{ name: source.name, rows }];
  for (const [at, { name, rows }] of found.entries()) {
    const listed = files[at]?.rows;
    if (rows !== listed) findings.add(name, "rows", `has ${countOf(rows, "row")}, the manifest says ${listed}`);
  }
}

/** Whether apostrophes may stand before formulas, which no other format has. */
export function isGuarded(rows: Loaded | LoadedFile, { options }: Manifest): boolean {
  return options.output.csv_safe && "format" in rows && rows.format === "csv";
}

/** The file of every kind that the others are compared with: the first that has as many rows as there should be. */
export function firstOfKinds(files: readonly LoadedFile[], { counts }: Manifest): ReadonlyMap<Kind, LoadedFile> {
  const whole = files.filter(({ source, rows }) => rows === counts[source.kind]);
  return new Map([...files.toReversed(), ...whole.toReversed()].map((file) => [file.source.kind, file]));
}
