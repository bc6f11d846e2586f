import { join } from "node:path";
import { stringify } from "csv-stringify/sync";
import { sqlFiles, sqlTypes } from "../../duckdb/sql.js";
import { makeFolders, UnreadableError } from "../../files/files.js";
import { joinSegments } from "../../files/join-segments.js";
import { readTextPieces } from "../../files/lines.js";
import { type ColumnType, columns, type Kind } from "../../rows/columns.js";
import { ExactNumber, jsonText } from "../../rows/exact-json.js";
import {
  fileName,
  jsonLine,
  type ReadRows,
  type SelectRows,
  type StagedFile,
  type TextFormat,
  textFile,
  type Writer,
  type WriterOptions,
} from "./format.js";

/**
 * The format CSV: RFC 4180, UTF-8, LF, with a header. Null is empty and unquoted; the empty string is `""`. `safe` puts an
 * apostrophe before cells that a spreadsheet would run as formulas, which is not lossless.
 */
export function csvText(safe: boolean): TextFormat {
  return {
    format: "csv",
    head: (kind) => `${columns[kind].map(({ name }) => name).join(",")}\n`,
    texts: (kind, rows) => {
      const cells = rows.map((row) => columns[kind].map(({ name, type }) => cell(type, row[name])));
      return rows.length > 0 ? [csvLines(cells, safe)] : [];
    },
  };
}

/** The text written during the crawl. */
export function openText({ csvSafe }: Pick<WriterOptions, "csvSafe">): TextFormat {
  return csvText(csvSafe);
}

/** Joins the segments of every kind below a header. */
export function openWriter({ csvSafe, duckDb: { signal } }: WriterOptions): Writer {
  const text = csvText(csvSafe);
  return {
    format: "csv",
    text,
    finish: async ({ folder, compression, tables }) => {
      const files: StagedFile[] = [];
      for (const { kind, dataset, rows, segments } of tables) {
        const path = fileName({ kind, format: "csv", dataset, compression });
        await makeFolders(folder, path);
        const joined = await joinSegments(join(folder, path), text.head(kind), segments("csv"), {
          compression,
          signal,
        });
        files.push(textFile(path, rows, joined));
      }
      return files;
    },
  };
}

/**
 * The CSV cell for a value. Numbers stay numbers, because a minus sign at the start of a text counts as a formula. Strings
 * stay as they are, and all else becomes JSON text.
 */
function cell(type: ColumnType, value: unknown): CsvCell {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  if (type === "integer" && value instanceof ExactNumber) return BigInt(value.text);
  if (typeof value === "string" && type !== "object") return value;
  return jsonText(value);
}

/** A CSV cell. Null is written empty and unquoted, the empty string as `""`. */
export type CsvCell = string | number | bigint | null;

/** Rows as CSV, without a final line feed. `safe` puts an apostrophe before cells that a spreadsheet would run as formulas. */
export function csvLines(rows: readonly (readonly CsvCell[])[], safe = false): string {
  return stringify([...rows], { quoted_match: /^$|\r/, escape_formulas: safe, eof: false });
}

export const hasQuotedLines = true;

/** SQL: the rows of CSV files. */
export const selectRows: SelectRows = (kind, { paths, longestLine }, json) => {
  const cells = columns[kind].map(({ name, type }) => `${cellSql(name, type, json)} AS "${name}"`);
  const names = columns[kind].map(({ name }) => `"${name}": 'VARCHAR'`);
  return `SELECT ${cells.join(", ")} FROM read_csv(${sqlFiles(paths)}, hive_partitioning = false, auto_detect = false, header = true,
    delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, parallel = false,
    strict_mode = true, max_line_size = ${Math.max(2_097_152, longestLine + 1024)}, columns = {${names.join(", ")}})`;
};

/** SQL: a CSV cell converted to the type of its column. */
function cellSql(name: string, type: ColumnType, json: "JSON" | "VARCHAR"): string {
  switch (type) {
    case "list":
    case "object":
      return `"${name}"::${json}`;
    case "integer":
      return `"${name}"::BIGINT`;
    case "boolean":
      return `"${name}"::BOOLEAN`;
    case "time":
      return `"${name}"::${sqlTypes.time}`;
    case "strings":
      return `from_json("${name}"::JSON, '["VARCHAR"]')`;
    default:
      return `"${name}"`;
  }
}

/** SQL: rows with texts as they were before `csv_safe`. */
export function unguardedRows(kind: Kind, select: string): string {
  const texts = columns[kind].filter(({ type }) => type === "any" || type === "text");
  const replaced = texts.map(({ name }) => `${unguardedSql(name)} AS ${name}`);
  return `(SELECT * REPLACE (${replaced.join(", ")}) FROM (${select}))`;
}

/**
 * SQL: a text without the apostrophe that `csv_safe` may have added before a formula. An original apostrophe looks the same and is
 * removed too.
 */
function unguardedSql(column: string): string {
  return `CASE WHEN regexp_matches(${column}, '^''[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20]') THEN ${column}[2:] ELSE ${column} END`;
}

/** Reads the rows of CSV files. Does not use DuckDB, which would need many times the memory of a long row. */
export const readRows: ReadRows = async function* (kind, { paths }) {
  for (const path of paths) yield* readFile(kind, path);
};

async function* readFile(kind: Kind, path: string): AsyncGenerator<Iterable<string>> {
  const width = columns[kind].length;
  let row = -1; // the header
  for await (const records of splitRecords(readTextPieces(path))) {
    const lines: string[] = [];
    for (const record of records) {
      row++;
      const cells = cellsOf(record.toString("utf8"), row);
      if (cells.length !== width) throw new UnreadableError(`row ${row} has ${cells.length} cells instead of ${width}`);
      if (row > 0) lines.push(jsonLine(kind, cells));
    }
    yield lines;
  }
}

/** The cells of a record. An empty unquoted cell is null. */
function cellsOf(record: string, row: number): readonly (string | null)[] {
  const cells: (string | null)[] = [];
  for (let at = 0; at <= record.length; ) {
    const isQuoted = record[at] === '"';
    const end = isQuoted ? endOfQuoted(record, at) : endOfBare(record, at);
    if (end < 0 || (end < record.length && record[end] !== ","))
      throw new UnreadableError(`row ${row} is not valid CSV at character ${at + 1}`);
    cells.push(isQuoted ? record.slice(at + 1, end - 1).replaceAll('""', '"') : record.slice(at, end) || null);
    at = end + 1;
  }
  return cells;
}

/** The index after the closing quote; -1 if there is none. */
function endOfQuoted(record: string, start: number): number {
  for (let at = record.indexOf('"', start + 1); at >= 0; at = record.indexOf('"', at + 2))
    if (record[at + 1] !== '"') return at + 1;
  return -1;
}

function endOfBare(record: string, start: number): number {
  const comma = record.indexOf(",", start);
  return comma < 0 ? record.length : comma;
}

/** Maximum bytes of a record: far above any real row, and below the longest JavaScript string. */
const longest = 256 * 1024 * 1024;
const quote = 34;
const lineFeed = 10;

/** Yields each record of a CSV file without its line feed, as soon as it is complete. Holds one record in memory. */
async function* splitRecords(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let begun: Buffer[] = [];
  let isQuoted = false;
  for await (const piece of pieces) {
    const records: Buffer[] = [];
    let start = 0;
    for (let from = 0; from < piece.length; ) {
      const end = piece.indexOf(lineFeed, from);
      const stop = end < 0 ? piece.length : end;
      if (hasOddQuotes(piece.subarray(from, stop))) isQuoted = !isQuoted;
      from = stop + 1;
      if (end < 0 || isQuoted) continue; // a quoted line feed does not end a record
      records.push(Buffer.concat([...begun, piece.subarray(start, end)]));
      begun = [];
      start = from;
    }
    begun.push(piece.subarray(start));
    if (begun.reduce((sum, { length }) => sum + length, 0) > longest)
      throw new UnreadableError(`a row is longer than ${longest >> 20} MB`);
    yield records;
  }
  const rest = Buffer.concat(begun);
  if (rest.length > 0) yield [rest];
}

function hasOddQuotes(bytes: Buffer): boolean {
  let isOdd = false;
  for (let at = bytes.indexOf(quote); at >= 0; at = bytes.indexOf(quote, at + 1)) isOdd = !isOdd;
  return isOdd;
}
