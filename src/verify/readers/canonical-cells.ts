import { hash } from "node:crypto";
import { type ColumnType, columns, type Kind } from "../../rows/columns.js";

/** The cells of a row as its file format writes them, all as text, with long texts shortened; null for null. */
export type RowText = readonly (string | null)[];

/**
 * The rows of a file in order and in batches, parsed when they are consumed. An error takes the place of an invalid row. Throws
 * UnreadableError if the rest cannot be read.
 */
export type Rows = AsyncGenerator<Iterable<RowText | RowError>>;

/** The error that takes the place of an invalid row; its message says why. */
export class RowError extends Error {
  override readonly name = "RowError";
}

/** Converts cells to a form that is the same for every format. RowError names a cell that does not fit its column. */
export function canonicalRow(kind: Kind, row: RowText): RowText {
  return columns[kind].map(({ name, type }, at) => {
    const text = row[at] ?? null;
    if (text === null) return null;
    const canonical = canonicalCell[type](text);
    if (canonical === undefined) throw new RowError(`${name} is not of type ${type}: ${text.slice(0, 40)}`);
    return canonical;
  });
}

/** The canonical form of a cell, for each type of column; undefined if it is not a value of the type. */
const canonicalCell: Readonly<Record<ColumnType, (text: string) => string | undefined>> = {
  text: (text) => text,
  integer: (text) => (isInteger(text) ? text : undefined),
  boolean: (text) => (text === "true" || text === "false" ? text : undefined),
  time: (text) => (time.test(text) ? text : undefined),
  strings: (text) =>
    canonicalJson(text, (value) => Array.isArray(value) && value.every((item) => typeof item === "string")),
  list: (text) => canonicalJson(text, Array.isArray),
  object: (text) => canonicalJson(text, isObject),
  any: canonicalText,
};

/** Whether a text is a whole number in canonical form that fits a BIGINT. */
function isInteger(text: string): boolean {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return false;
  return text.length < 16 || BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

const time = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;

/** Removes the apostrophes of `csv_safe`. Original apostrophes look the same, so apply this to both sides of a comparison. */
export function unguardedRow(row: RowText): RowText {
  return row.map((text) => (text === null ? null : unguardedText(text)));
}

/**
 * Texts of more than 64 bytes in columns for long texts are compared by their SHA-256, to save memory, also in DuckDB. An
 * apostrophe that `csv_safe` may have added is not hashed, but put before the hash. It does not count as a byte either: otherwise a
 * text of 64 bytes would be long with it, and short without.
 */
const longest = 64;
const formula = "[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20]";
const guarded = new RegExp(`^'(?=${formula})`);

/** A short text unchanged, or the replacement for a long one. */
export function shortText(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= longest) return text;
  if (!guarded.test(text)) return `=sha256:${hash("sha256", text)}`;
  return bytes <= longest + 1 ? text : `'=sha256:${hash("sha256", text.slice(1))}`;
}

/** SQL: like `shortText`. */
export function shortTextSql(column: string): string {
  return `CASE WHEN strlen(${column}) <= ${longest} THEN ${column}
    WHEN regexp_matches(${column}, '^''${formula}')
      THEN CASE WHEN strlen(${column}) <= ${longest + 1} THEN ${column} ELSE '''=sha256:' || sha256(${column}[2:]) END
    ELSE '=sha256:' || sha256(${column}) END`;
}

/** Removes the apostrophe of `csv_safe` from a text or its replacement. */
export function unguardedText(text: string): string {
  return text.startsWith("'") ? text.replace(guarded, "") : text;
}

declare global {
  /** From the same proposal as the `context` argument of revivers; TypeScript has no types for it yet. */
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

export interface ParsedJson {
  /** Numbers that JavaScript would write differently are objects that JSON.stringify writes as in the source. */
  readonly value: unknown;
  /** The names in the outermost object in order, including repeated ones and unnecessary escapes. */
  readonly names: readonly string[];
  /** A name that occurs twice in an object; the value has the last of its members. */
  readonly repeated: string | undefined;
}

/**
 * Parses JSON with JSON.parse without losing anything. If JSON.stringify returns the same text, nothing was lost;
 * otherwise names are read from the text, and numbers from their source. Throws SyntaxError, or RowError if the text is nested
 * too deep for JSON.stringify; a run writes no such text.
 */
export function parseJson(text: string, numberFrom = numberAsWritten): ParsedJson {
  const value: unknown = JSON.parse(text);
  try {
    if (JSON.stringify(value) === text)
      return { value, names: isObject(value) ? Object.keys(value) : [], repeated: undefined };
    const exact = (_name: string, each: unknown, context?: { readonly source: string }) =>
      typeof each === "number" && context ? numberFrom(each, context.source) : each;
    return { value: JSON.parse(text, exact), ...namesIn(text) };
  } catch (error) {
    if (error instanceof RangeError) throw new RowError("is nested too deeply to be checked");
    throw error;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

function numberAsWritten(value: number, source: string): unknown {
  return String(value) === source ? value : JSON.rawJSON(source);
}

/**
 * The canonical form of JSON text, the same for all texts with the same value: no blanks, strings with the fewest escapes, numbers by
 * their exact decimal value. The order of members stays. Undefined if the value has another type, the text is not JSON, or a name occurs
 * twice.
 */
export function canonicalJson(text: string, isOfType: (value: unknown) => boolean = () => true): string | undefined {
  if (text === "[]" && isOfType([])) return text; // most lists: saves 3 % of the time of a verification
  try {
    const { value, repeated } = parseJson(text, numberByValue);
    return repeated === undefined && isOfType(value) ? JSON.stringify(value) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Like `canonicalJson`, for a column of any type: other text stays unchanged. */
export function canonicalText(text: string): string {
  return /^[\s[{"\d-]/.test(text) ? (canonicalJson(text) ?? text) : text;
}

/** The double if its shortest text has the same value, otherwise the exact number, because rounding would change it. */
function numberByValue(value: number, source: string): unknown {
  const exact = exactDecimal(source);
  return exact === exactDecimal(String(value)) ? value : JSON.rawJSON(exact);
}

/** Normalizes a number: `-1.50e3` and `-1500` become `-15e2`. */
function exactDecimal(text: string): string {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign}${short}e${BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - short.length)}`;
}

/** The names in JSON text. */
function namesIn(text: string): Omit<ParsedJson, "value"> {
  const names: string[] = [];
  const open: Set<unknown>[] = [];
  let string = "";
  let repeated: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") open.push(new Set());
    if (character === "}") open.pop();
    if (character === '"') {
      const end = endOfString(text, at);
      string = text.slice(at, end);
      at = end - 1;
    }
    if (character === ":") {
      const [name, object] = [JSON.parse(string), open.at(-1)];
      if (open.length === 1) names.push(string.slice(1, -1));
      if (object?.has(name)) repeated = string;
      object?.add(name);
    }
  }
  return { names, repeated };
}

/** The index after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === "\\") before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}
