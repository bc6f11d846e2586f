import { isUtf8 } from "node:buffer";
import { CsvError, parse } from "csv-parse/sync";
import { type Column, columns, type Kind } from "../../rows/columns.js";
import { shortText } from "./cells.js";
import { isObject, type ParsedJson, parseJson } from "./json-text.js";
import { readText } from "./read-text.js";
import { type Problem, type ReadRow, RowError, type RowSource, type RowText, UnreadableError } from "./rows.js";

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
        const cells = cellsOfAll(rows);
        const read = (text: string, at: number) => rowTextFromCsv(kind, text, cells?.[at] ?? cellsOf(text));
        yield readRows(rows, Math.max(first, 1), read, problem);
        first += records.length;
      }
      if (first === 0) throw new UnreadableError("has no header");
    },
  };
}

/** The texts of the cells of a record, "" where one is null. */
type Texts = readonly string[];

/** Reads the records of a piece together: a call for each takes ten times as long. Undefined when one of them is broken. */
function cellsOfAll(records: readonly Buffer[]): readonly Texts[] | undefined {
  try {
    const cells = parseCsv(Buffer.concat(records.flatMap((record) => [record, ending])));
    return cells.length === records.length ? cells : undefined;
  } catch {
    return undefined;
  }
}

const ending = Buffer.from("\n");

/** RowError when it is no record. */
function cellsOf(record: string): Texts {
  try {
    return parseCsv(`${record}\n`)[0] ?? [];
  } catch (error) {
    if (error instanceof RangeError) throw brokenCell(0); // csv-parse quotes the cell in its message, which no string can hold then
    if (!(error instanceof CsvError)) throw error;
    const before = Buffer.from(record).subarray(0, error.column === 0 ? 0 : Number(error.bytes) + 1);
    const start = before.toString("utf8").length;
    if (error.code === "CSV_QUOTE_NOT_CLOSED") throw new RowError(`has an unclosed quote at character ${start + 1}`);
    throw brokenCell(error.code === "CSV_INVALID_CLOSING_QUOTE" ? endOfQuoted(record, start) : start);
  }
}

function parseCsv(text: Buffer | string): readonly Texts[] {
  return parse(text, { record_delimiter: "\n", relax_column_count: true });
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
  const cells = texts.map((text, at) => {
    const isQuoted = record[start] === '"';
    const end = start + text.length + (isQuoted ? 2 + quotesIn(text) : 0);
    if (isQuoted && record[end - 1] !== '"') throw brokenCell(end - 1);
    if (!isQuoted && text.includes("\r")) throw brokenCell(start);
    start = end + 1;
    if (!isQuoted && text === "") return null;
    return expected[at]?.type === "text" ? shortText(text) : text;
  });
  if (start !== record.length + 1) throw brokenCell(start); // not all of it is in the cells
  return cells;
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
        yield readRows(records, first, (line) => rowTextFromJson(kind, line), problem);
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
  read: (text: string, at: number) => RowText,
  problem: Problem,
): Generator<ReadRow> {
  const rowAt = (record: Buffer, at: number) => {
    try {
      if (!isUtf8(record)) throw new RowError("is not UTF-8");
      return read(record.toString("utf8"), at);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      problem(first + at, error.message);
      return undefined;
    }
  };
  for (const [at, record] of records.entries()) yield { row: first + at, text: rowAt(record, at) };
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
  let begun: Buffer[] = [];
  let length = 0;
  let inQuotes = false;
  for await (const piece of readText(path)) {
    const records: Buffer[] = [];
    let start = 0;
    let nextQuote = quoted ? piece.indexOf(quote) : -1;
    const passQuotes = (end: number) => {
      for (; nextQuote >= 0 && nextQuote < end; nextQuote = piece.indexOf(quote, nextQuote + 1)) inQuotes = !inQuotes;
    };
    for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, end + 1)) {
      passQuotes(end);
      if (inQuotes) continue;
      const last = piece.subarray(start, end);
      records.push(begun.length > 0 ? Buffer.concat([...begun, last]) : last);
      [begun, length, start] = [[], 0, end + 1];
    }
    passQuotes(piece.length);
    if (start < piece.length) begun.push(piece.subarray(start));
    length += piece.length - start;
    if (length > longest) throw new UnreadableError(`a row is longer than ${longest >> 20} MB`);
    yield records;
  }
  if (begun.length > 0) yield [Buffer.concat(begun)];
}
