import { hash } from "node:crypto";
import type { Connection } from "../duckdb/open-duckdb.js";
import { columns, type Kind, namesWith } from "../rows/columns.js";
import type { Findings } from "./findings.js";
import { type Problem, placeOfRow, type ReadRow, type RowSource, UnreadableError } from "./readers/row-source.js";
import { canonicalRow, RowError, type RowText, unguardedRow } from "./readers/row-text.js";

/** A table of what identifies the rows of a source, a hash of each, and nothing else of them. */
export interface Loaded {
  readonly table: string;
  readonly source: RowSource;
  /** Rows, those that could not be read included. */
  readonly rows: number;
}

/** The identity of a row, under the same names for every kind. */
export const placeColumns = ["dataset_id", "document_id", "parent", "id"] as const;

export interface RowStoreOptions {
  /** Also hash every row without the apostrophes of `csv_safe`. */
  readonly unguarded: boolean;
  /** Called often while rows are loaded; it may throw to end that. */
  readonly onRows: (source: RowSource, rows: number) => void;
}

type Appender = Awaited<ReturnType<Connection["createAppender"]>>;

/** Keeps rows until they are compared, in a DuckDB that spills to the disk. */
export class RowStore {
  readonly #connection: Connection;
  readonly #options: RowStoreOptions;
  #tables = 0;

  constructor(connection: Connection, options: RowStoreOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** The rows of a statement, as JSON has them: large integers are texts. */
  async query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return (await this.#connection.runAndReadAll(sql)).getRowObjectsJson();
  }

  /** Reads a source to its end; undefined when that is not possible, which is a finding. */
  async load(source: RowSource, findings: Findings): Promise<Loaded | undefined> {
    const table = `rows_${++this.#tables}`;
    const names = placeColumns.map((name) => `${name} VARCHAR`).join(", ");
    await this.#connection.run(`CREATE TABLE ${table} (row BIGINT, ${names}, hash VARCHAR, unguarded VARCHAR)`);
    const appender = await this.#connection.createAppender(table);
    try {
      const rows = await this.#append(appender, source, findings);
      return { table, source, rows };
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      findings.add(error.file ?? source.name, "cannot be read", `cannot be read: ${error.message}`);
      return undefined;
    } finally {
      appender.closeSync();
    }
  }

  async #append(appender: Appender, source: RowSource, findings: Findings): Promise<number> {
    const add = rowAppender(appender, source.kind, this.#options.unguarded);
    const problem: Problem = (number, message, kind = "is no row") => {
      const { name, row } = placeOfRow(source, number);
      findings.add(name, kind, `row ${row} ${message}`);
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
