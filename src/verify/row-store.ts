import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, lackOf, memoryShare, withDuckDb } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import type { DumpTable, Manifest } from "../dump/manifest.js";
import { UnreadableError } from "../files/files.js";
import { columns, type Kind, namesWith } from "../rows/columns.js";
import { countOf } from "../words.js";
import type { Findings } from "./findings.js";
import { canonicalRow, RowError, type RowText, unguardedRow, unguardedText } from "./readers/cells.js";
import { type Loaded, type RowSource, tableRows } from "./readers/sources.js";

/** The identity of a row, under the same names for every kind. */
export const locationColumns = ["dataset_id", "document_id", "parent", "id"] as const;

interface RowStoreOptions {
  /** The most memory that both DuckDBs may use together, such as `800MB`. */
  readonly memory: string;
  readonly signal: AbortSignal;
  /** Also hash every row without the apostrophes of `csv_safe`. */
  readonly unguarded: boolean;
  /** Gets what is wrong with rows. */
  readonly findings: Findings;
  /** Called often while rows are loaded; it may throw to end that. */
  readonly onRows: (source: RowSource, rows: number) => void;
}

/**
 * Runs `work` with a DuckDB that reads and another that stores, because one that streams can do nothing else meanwhile.
 * Their spill files go to the system's temporary folder, and are removed.
 */
export async function withRowStore<T>(
  options: RowStoreOptions,
  work: (reader: Connection, store: RowStore) => Promise<T>,
): Promise<T> {
  const { memory, signal } = options;
  const temporary = await mkdtemp(join(tmpdir(), "kbdump-verify-"));
  const part = (name: string, share: number) => {
    return { memory: memoryShare(memory, share), temporary: join(temporary, name), signal };
  };
  try {
    // One thread reads, because who takes the rows is the slower one, and every thread takes memory.
    return await withDuckDb(":memory:", { ...part("read", 0.75), threads: 1 }, (reader) =>
      withDuckDb(":memory:", part("store", 0.25), (connection) => work(reader, new RowStore(connection, options))),
    );
  } catch (error) {
    throw lackOf(error, memory) ?? error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

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
  query(sql: string): Promise<readonly SqlRow[]> {
    return rowsOf(this.#connection, sql);
  }

  /**
   * Reads a source to its end. If that fails, records a finding and returns undefined. Rows that nothing is compared with need no hash, which
   * takes a sixth of the time.
   */
  async load(source: RowSource, { isCompared = true } = {}): Promise<Loaded | undefined> {
    const table = `rows_${++this.#tables}`;
    const names = locationColumns.map((name) => `${name} VARCHAR`).join(", ");
    await this.#connection.run(`CREATE TABLE ${table} (row BIGINT, ${names}, hash VARCHAR, unguarded VARCHAR)`);
    const appender = await this.#connection.createAppender(table);
    const append = rowAppender(appender, source.kind, { ...this.#options, isCompared });
    const counts: number[] = [];
    let [rows, name] = [0, source.name];
    try {
      for (const file of source.files) {
        name = file.name;
        const before = rows;
        const problem: Problem = (message, kind = "is no row") =>
          this.findings.add(file.name, kind, `row ${rows - before} ${message}`);
        const checkLocation = locationCheck(file.dataset, problem);
        for await (const some of file.read()) {
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
          this.#options.onRows(source, rows - first);
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

/** Called when the current row is not as it should be; `kind` says in a word or two what is wrong, as findings are counted by. */
type Problem = (message: string, kind?: string) => void;

/** Checks that the rows of a partition are of its dataset, and that their documents stand by their ids. */
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

function rowAppender(
  appender: Appender,
  kind: Kind,
  { unguarded, isCompared }: Pick<RowStoreOptions, "unguarded"> & { readonly isCompared: boolean },
): (row: number, text: RowText) => void {
  const names = columns[kind].map(({ name }) => name);
  const required = namesWith(kind, "document", "parent", "id").map((name) => names.indexOf(name)); // without one of them, a row cannot be told from another
  const [parent] = namesWith(kind, "parent");
  const [id] = namesWith(kind, "id");
  const places = ["dataset_id", "document_id", parent, id].map((name) => (name ? names.indexOf(name) : -1));
  const append = (value: string | null) => {
    if (value === null) appender.appendNull();
    else appender.appendVarchar(value);
  };
  return (row, text) => {
    const whole = canonicalRow(kind, text);
    const bare = unguarded ? unguardedRow(text) : text;
    for (const place of required) if (text[place] == null) throw new RowError(`has no ${names[place]}`);
    appender.appendBigInt(BigInt(row));
    for (const place of places) append(bare[place] ?? null);
    append(isCompared ? rowHash(whole) : null);
    append(isCompared && unguarded ? rowHash(canonicalRow(kind, bare)) : null);
    appender.endRow();
  };
}

/** 132 bits of the SHA-256 of canonical cells. */
function rowHash(cells: RowText): string {
  return hash("sha256", textOfRow(cells), "base64").slice(0, 22);
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

/**
 * Reads the rows of the tables of a run folder, as many as the manifest says. Those that cannot be read, and those of a format
 * without a reader, are left out.
 */
export async function loadTables(
  reader: Connection,
  store: RowStore,
  folder: string,
  tables: readonly DumpTable[],
  isCompared: (table: DumpTable) => boolean,
): Promise<readonly Loaded[]> {
  const all: Loaded[] = [];
  for (const table of tables) {
    const source = tableRows(reader, folder, table);
    const loaded = source && (await store.load(source, { isCompared: isCompared(table) }));
    if (!loaded) continue;
    all.push(loaded);
    for (const [at, { path, rows: listed }] of table.files.entries()) {
      const rows = loaded.counts[at] ?? 0;
      if (rows !== listed) store.findings.add(path, "rows", `has ${countOf(rows, "row")}, the manifest says ${listed}`);
    }
  }
  return all;
}

/** Whether apostrophes may stand before formulas, which no other format has. */
export function isGuarded({ format }: Loaded, { options }: Manifest): boolean {
  return options.output.csv_safe && format === "csv";
}

/** The table of every kind that the others are compared with: the first that has as many rows as there should be. */
export function firstOfKinds(tables: readonly Loaded[], { counts }: Manifest): ReadonlyMap<Kind, Loaded> {
  const whole = tables.filter(({ kind, rows }) => rows === counts[kind]);
  return new Map([...tables.toReversed(), ...whole.toReversed()].map((table) => [table.kind, table]));
}
