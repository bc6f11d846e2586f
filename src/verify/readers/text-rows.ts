import { isUtf8 } from "node:buffer";
import { CsvError, parse } from "csv-parse/sync";
import { type Column, columns, type Kind } from "../../rows/columns.js";
import { isObject, type ParsedJson, parseJson } from "./json-text.js";
import {
  type Problem,
  type ReadRow,
  RowError,
  type RowSource,
  type RowText,
  readText,
  UnreadableError,
} from "./read-text.js";
import { shortText } from "./row-text.js";

/** The rows of a CSV file by the letter of RFC 4180, below its header. An empty cell without quotes is null. */
export function csvRows(name: string, kind: Kind, path: string): RowSource {
  const header = Buffer.from(columns[kind].map((column) => column.name).join(","));
  return {
    name,
    kind,
    async *read(problem) {
      let first = 0; // the header
      for await (const records of readRecords(path, true)) {
        const [top] = records;
        if (first === 0 && top?.equals(header) === false) throw new UnreadableError("has another header");
        const rows = first === 0 ? records.slice(1) : records;
        yield readCsvRows(kind, rows, Math.max(first, 1), problem);
        first += records.length;
      }
      if (first === 0) throw new UnreadableError("has no header");
    },
  };
}

/**
 * Reads records of CSV: together, which takes a fraction of the time, or each on its own where one of them is broken, so that the others
 * are read all the same.
 */
function* readCsvRows(kind: Kind, records: readonly Buffer[], first: number, problem: Problem): Generator<ReadRow> {
  const cells = cellsOfAll(records);
  for (const [at, record] of records.entries()) {
    yield readRow(first + at, record, (text) => rowTextFromCsv(kind, text, cells?.[at] ?? cellsOf(record)), problem);
  }
}

/** The texts of the cells of a record, "" where one is null. */
type Texts = readonly string[];

/** Undefined when not every record is one by itself. */
function cellsOfAll(records: readonly Buffer[]): readonly Texts[] | undefined {
  try {
    const cells = parseCsv(Buffer.concat(records.flatMap((record) => [record, ending])));
    return cells.length === records.length ? cells : undefined;
  } catch {
    return undefined;
  }
}

/** RowError when it is no record. */
function cellsOf(record: Buffer): Texts {
  try {
    return parseCsv(Buffer.concat([record, ending]))[0] ?? [];
  } catch (error) {
    throw brokenRecord(error, record);
  }
}

function parseCsv(text: Buffer): readonly Texts[] {
  return parse(text, { record_delimiter: "\n", relax_column_count: true });
}

const ending = Buffer.from("\n");

/** Where a record is broken, from the error of csv-parse. */
function brokenRecord(error: unknown, record: Buffer): unknown {
  if (error instanceof RangeError) return brokenCell(0); // csv-parse quotes the cell in its message, which no string can hold then
  if (!(error instanceof CsvError)) return error;
  const start = error.column === 0 ? 0 : record.toString("utf8", 0, Number(error.bytes) + 1).length;
  if (error.code === "CSV_QUOTE_NOT_CLOSED") return new RowError(`has an unclosed quote at character ${start + 1}`);
  return brokenCell(error.code === "CSV_INVALID_CLOSING_QUOTE" ? endOfQuoted(record.toString("utf8"), start) : start);
}

function brokenCell(at: number): RowError {
  return new RowError(`is not valid CSV at character ${at + 1}`);
}

/** Behind the closing quote of a cell. */
function endOfQuoted(record: string, start: number): number {
  let at = record.indexOf('"', start + 1);
  while (record[at + 1] === '"') at = record.indexOf('"', at + 2);
  return at + 1;
}

/**
 * The cells of a record, null where one is empty and has no quotes, and long texts short. Which have quotes is seen in the record:
 * csv-parse would make a large object for each cell to say so. RowError for what csv-parse takes and RFC 4180 does not: a carriage return
 * without quotes, and a NUL behind the closing quote.
 */
function rowTextFromCsv(kind: Kind, record: string, texts: Texts): RowText {
  const expected = columns[kind];
  if (texts.length !== expected.length) throw new RowError(`has ${texts.length} cells instead of ${expected.length}`);
  let start = 0;
  return texts.map((text, at) => {
    const isQuoted = record[start] === '"';
    const end = start + text.length + (isQuoted ? 2 + quotesIn(text) : 0);
    if (isQuoted && record[end - 1] !== '"') throw brokenCell(end - 1);
    if (!isQuoted && text.includes("\r")) throw brokenCell(start);
    start = end + 1;
    if (!isQuoted && text === "") return null;
    return expected[at]?.type === "text" ? shortText(text) : text;
  });
}

function quotesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count++;
  return count;
}

/** The rows of a JSONL file, one JSON object a line. */
export function jsonlRows(name: string, kind: Kind, path: string): RowSource {
  return {
    name,
    kind,
    async *read(problem) {
      let first = 1;
      for await (const records of readRecords(path, false)) {
        yield readRows(records, first, (text) => rowTextFromJson(kind, text), problem);
        first += records.length;
      }
    },
  };
}

/** The cells of a JSON object that has exactly the columns, in order, each of its type; RowError for any other. */
export function rowTextFromJson(kind: Kind, json: string): RowText {
  const { value, names, repeated } = parseRow(json);
  if (!isObject(value)) throw new RowError("is not a JSON object");
  const expected = columns[kind];
  if (names.length !== expected.length || !expected.every(({ name }, at) => names[at] === name))
    throw new RowError(`has other columns: ${names.join(", ")}`);
  if (repeated !== undefined) throw new RowError(`has ${repeated} twice in one object`);
  return expected.map((column) => cellText(column, value[column.name]));
}

function parseRow(json: string): ParsedJson {
  try {
    return parseJson(json);
  } catch (error) {
    if (error instanceof SyntaxError) throw new RowError(`is not valid JSON: ${error.message}`);
    throw error;
  }
}

/** A string as it is, anything else as its JSON text. */
function cellText({ name, type }: Column, value: unknown): string | null {
  if (value === null) return null;
  const isString = typeof value === "string";
  const text = isString ? value : JSON.stringify(value);
  if (type !== "any" && isString !== (type === "text" || type === "time"))
    throw new RowError(`${name} is not of type ${type}: ${(isString ? JSON.stringify(text) : text).slice(0, 40)}`);
  return type === "text" ? shortText(text) : text;
}

/** The rows of some records, the first of which is row `first`; what is none goes to `problem`. */
function* readRows(
  records: readonly Buffer[],
  first: number,
  read: (text: string) => RowText,
  problem: Problem,
): Generator<ReadRow> {
  for (const [at, record] of records.entries()) yield readRow(first + at, record, read, problem);
}

function readRow(row: number, record: Buffer, read: (text: string) => RowText, problem: Problem): ReadRow {
  try {
    if (!isUtf8(record)) throw new RowError("is not UTF-8");
    return { row, text: read(record.toString("utf8")) };
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    problem(row, error.message);
    return { row, text: undefined };
  }
}

/** The longest record that is read, in bytes: far above what a row can be, and below what a string of JavaScript can hold. */
const longest = 256 * 1024 * 1024;
const lineFeed = 10;
const quote = 34;

/**
 * The records of a text file, without the line feeds at their ends, some at a time. With `quoted`, a line feed between
 * quotes ends no record, as in CSV. A file may be compressed. A symlink is not followed. Memory is that of one record.
 */
export async function* readRecords(path: string, quoted: boolean): AsyncGenerator<readonly Buffer[]> {
  yield* recordsOf(readText(path), quoted);
}

/** The same for bytes from wherever they come. */
async function* recordsOf(pieces: AsyncIterable<Buffer>, quoted: boolean): AsyncGenerator<readonly Buffer[]> {
  const split = new RecordSplit(quoted);
  for await (const piece of pieces) yield split.add(piece);
  const rest = split.rest();
  if (rest.length > 0) yield [rest];
}

class RecordSplit {
  readonly #quoted: boolean;
  #begun: Buffer[] = [];
  #length = 0;
  #inQuotes = false;

  constructor(quoted: boolean) {
    this.#quoted = quoted;
  }

  /** The records that end in this piece. */
  add(piece: Buffer): readonly Buffer[] {
    const records: Buffer[] = [];
    let start = 0;
    for (let at = 0; ; ) {
      const end = piece.indexOf(lineFeed, at);
      if (this.#quoted) this.#countQuotes(piece, at, end < 0 ? piece.length : end);
      if (end < 0) break;
      at = end + 1;
      if (this.#inQuotes) continue;
      records.push(this.#ended(piece.subarray(start, end)));
      start = at;
    }
    this.#keep(piece.subarray(start));
    return records;
  }

  rest(): Buffer {
    return this.#ended(Buffer.alloc(0));
  }

  #ended(end: Buffer): Buffer {
    if (this.#begun.length === 0) return end;
    const record = Buffer.concat([...this.#begun, end]);
    this.#begun = [];
    this.#length = 0;
    return record;
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#begun.push(piece);
    this.#length += piece.length;
    if (this.#length > longest) throw new UnreadableError(`a row is longer than ${longest >> 20} MB`);
  }

  #countQuotes(piece: Buffer, start: number, end: number): void {
    let odd = this.#inQuotes;
    for (let at = start; at < end; at++) if (piece[at] === quote) odd = !odd;
    this.#inQuotes = odd;
  }
}
