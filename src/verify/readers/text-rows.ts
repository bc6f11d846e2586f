import { isUtf8 } from "node:buffer";
import { CsvError, parse } from "csv-parse/sync";
import { UnreadableError } from "../../files/files.js";
import { readTextPieces, splitLines } from "../../files/lines.js";
import { allKinds, type Column, columns, type Kind } from "../../rows/columns.js";
import {
  isObject,
  type ParsedJson,
  parseJson,
  RowError,
  type Rows,
  type RowText,
  shortText,
} from "./canonical-cells.js";

/** The rows of a CSV file after its header, strictly by RFC 4180. An empty cell without quotes is null. */
export async function* csvRows(path: string, kind: Kind): Rows {
  const header = Buffer.from(columns[kind].map((column) => column.name).join(","));
  let isBelow = false;
  for await (const records of splitLines(readTextPieces(path), { quoted: true })) {
    const [top] = records;
    if (!isBelow && top?.equals(header) === false) throw new UnreadableError("has another header");
    const rows = isBelow ? records : records.slice(1);
    isBelow ||= top !== undefined;
    const texts = textsOfAll(rows);
    yield rowsFrom(rows, (record, at) => rowTextFromCsv(kind, record, texts?.[at] ?? textsOf(record)));
  }
  if (!isBelow) throw new UnreadableError("has no header");
}

/**
 * Parses all records of a piece at once, with "" for null, which is ten times as fast as one by one. Undefined if any of them is
 * invalid.
 */
function textsOfAll(records: readonly Buffer[]): readonly (readonly string[])[] | undefined {
  try {
    const texts = parseCsv(Buffer.concat(records.flatMap((record) => [record, ending])));
    return texts.length === records.length ? texts : undefined;
  } catch {
    return undefined;
  }
}

const ending = Buffer.from("\n");

/** The texts of a CSV record's cells. Throws RowError if it is not a record. */
function textsOf(record: string): readonly string[] {
  try {
    return parseCsv(`${record}\n`)[0] ?? [];
  } catch (error) {
    throw new RowError(
      error instanceof CsvError && error.code === "CSV_QUOTE_NOT_CLOSED" ? `${broken}: a quote is not closed` : broken,
    );
  }
}

const broken = "is not valid CSV";

function parseCsv(text: Buffer | string): readonly (readonly string[])[] {
  return parse(text, { record_delimiter: "\n", relax_column_count: true });
}

/**
 * The cells of a record: null for empty cells without quotes, and long texts shortened. Quotes are looked up in the record, because
 * csv-parse would make a large object for each cell. Throws RowError for input that csv-parse accepts although RFC 4180 does not: a
 * carriage return without quotes, and a NUL after the closing quote.
 */
function rowTextFromCsv(kind: Kind, record: string, texts: readonly string[]): RowText {
  const expected = columns[kind];
  if (texts.length !== expected.length) throw new RowError(`has ${texts.length} cells instead of ${expected.length}`);
  let start = 0;
  const cells = texts.map((text, at) => {
    const isQuoted = record[start] === '"';
    const end = start + text.length + (isQuoted ? 2 + text.length - text.replaceAll('"', "").length : 0);
    if (isQuoted ? record[end - 1] !== '"' : text.includes("\r")) throw new RowError(broken);
    start = end + 1;
    if (!isQuoted && text === "") return null;
    return expected[at]?.long ? shortText(text) : text;
  });
  if (start !== record.length + 1) throw new RowError(broken); // part of the record is outside the cells
  return cells;
}

/** The rows of a JSONL file, one JSON object per line. If the rows are not compared, long texts are not hashed. */
export async function* jsonlRows(path: string, kind: Kind, _connection: unknown, isCompared: boolean): Rows {
  for await (const lines of splitLines(readTextPieces(path)))
    yield rowsFrom(lines, (line) => rowTextFromJson(kind, line, isCompared));
}

/** The cells of a JSON object with exactly the expected columns, in order and of the right types; otherwise RowError. */
export function rowTextFromJson(kind: Kind, json: string, isCompared = true): RowText {
  const { value, names, repeated } = parseRow(kind, json);
  if (!isObject(value)) throw new RowError("is not a JSON object");
  const expected = columns[kind];
  if (names.length !== expected.length || !expected.every(({ name }, at) => names[at] === name))
    throw new RowError(`has other columns: ${names.join(", ")}`);
  if (repeated !== undefined) throw new RowError(`has ${repeated} twice in one object`);
  return expected.map((column) => cellText(column, value[column.name], isCompared));
}

const string = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;
const cell = String.raw`(?:null|${string}|0|-?[1-9]\d{0,14}|true|false|\[(?:${string}(?:,${string})*)?\]|\{\})`;

/**
 * Matches rows that hold every column once and in order, and no number or object that JSON.parse could change. Almost all rows are like
 * this, and matching takes a fifth of the time that `parseJson` needs to find out.
 */
const usualRows = new Map(
  allKinds.map((kind) => {
    const names = columns[kind].map(({ name }) => name);
    return [kind, { names, pattern: new RegExp(`^\\{${names.map((name) => `"${name}":${cell}`).join(",")}\\}$`) }];
  }),
);
/** Maximum characters to match, because matching a very long text would need as much memory again. */
const longestMatch = 100_000;

function parseRow(kind: Kind, json: string): ParsedJson {
  const usual = usualRows.get(kind);
  try {
    if (usual && json.length <= longestMatch && usual.pattern.test(json))
      return { value: JSON.parse(json), names: usual.names, repeated: undefined };
    return parseJson(json);
  } catch (error) {
    if (error instanceof SyntaxError) throw new RowError(`is not valid JSON: ${error.message}`);
    throw error;
  }
}

/** A string unchanged, any other value as JSON text. */
function cellText({ name, type, long }: Column, value: unknown, isCompared: boolean): string | null {
  if (value === null) return null;
  const isString = typeof value === "string";
  const text = isString ? value : JSON.stringify(value);
  if (type !== "any" && isString !== (type === "text" || type === "time"))
    throw new RowError(`${name} is not of type ${type}: ${(isString ? JSON.stringify(text) : text).slice(0, 40)}`);
  return long && isCompared ? shortText(text) : text;
}

function* rowsFrom(
  records: readonly Buffer[],
  read: (text: string, at: number) => RowText,
): Generator<RowText | RowError> {
  for (const [at, record] of records.entries()) {
    try {
      if (!isUtf8(record)) throw new RowError("is not UTF-8");
      yield read(record.toString("utf8"), at);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      yield error;
    }
  }
}
