import { hash } from "node:crypto";
import { type ColumnType, columns, type Kind } from "../../rows/columns.js";

/** The cells of a row as a format has them, all as text, those of text columns short; null where they are null. */
export type RowText = readonly (string | null)[];

/** Why something is no row. */
export class RowError extends Error {
  override readonly name = "RowError";
}

/** The cells in a form that is the same in every format. RowError names a cell that its column cannot hold. */
export function canonicalRow(kind: Kind, row: RowText): RowText {
  return columns[kind].map(({ name, type }, at) => {
    const text = row[at] ?? null;
    if (text === null) return null;
    const canonical = canonicalCell(type, text);
    if (canonical === undefined) throw new RowError(`${name} is not of type ${type}: ${text.slice(0, 40)}`);
    return canonical;
  });
}

/** Undefined when it is no value of the type. */
function canonicalCell(type: ColumnType, text: string): string | undefined {
  switch (type) {
    case "text":
      return text;
    case "integer":
      return isInteger(text) ? text : undefined;
    case "boolean":
      return text === "true" || text === "false" ? text : undefined;
    case "time":
      return isTime(text) ? text : undefined;
    case "strings":
      return jsonCell(text, (value) => Array.isArray(value) && value.every((item) => typeof item === "string"));
    case "list":
      return jsonCell(text, Array.isArray);
    case "object":
      return jsonCell(text, (value) => typeof value === "object" && value !== null && !Array.isArray(value));
    case "any":
      return canonicalText(text);
  }
}

/** A whole number that fits a BIGINT, in its only form. */
function isInteger(text: string): boolean {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return false;
  return text.length < 16 || BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

function jsonCell(text: string, isOfType: (value: unknown) => boolean): string | undefined {
  try {
    return isOfType(JSON.parse(text)) ? canonicalJson(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The row without the apostrophes of `csv_safe`. They cannot be told from those of the text: compare both sides so. */
export function unguardedRow(row: RowText): RowText {
  return row.map((text) => (text === null ? null : unguardedText(text)));
}

const number = /-?\d[\d.eE+-]*/y;

/**
 * JSON text in the one form that stands for all texts of the same value: no blanks, strings with the fewest escapes, numbers
 * by their exact decimal value. The text must be JSON. The order of members and members of the same name stay.
 */
export function canonicalJson(text: string): string {
  if (!/[\\\s\d]/.test(text)) return text; // most lists: no escape, no blank, no number
  let canonical = "";
  for (let at = 0; at < text.length; ) {
    const end = endOfToken(text, at);
    canonical += canonicalToken(text.slice(at, end));
    at = end;
  }
  return canonical;
}

/** The same for a text that is JSON or not, as in a column of any type: a text that is none stays as it is. */
export function canonicalText(text: string): string {
  if (!/^[\s[{"\d-]/.test(text)) return text;
  try {
    JSON.parse(text);
    return canonicalJson(text);
  } catch {
    return text;
  }
}

function endOfToken(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at);
  number.lastIndex = at;
  return number.test(text) ? number.lastIndex : at + 1;
}

function canonicalToken(token: string): string {
  const code = token.charCodeAt(0);
  if (code === 34) return token.includes("\\") ? JSON.stringify(JSON.parse(token)) : token;
  if (code === 45 || (code >= 48 && code <= 57)) return exactDecimal(token);
  return isBlank(code) ? "" : token;
}

/** `-1.50e3` and `-1500` are `-15e2`. Never a double: what would be rounded is another number. */
function exactDecimal(text: string): string {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign}${short}e${BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - short.length)}`;
}

/**
 * Texts of more than 64 bytes are compared by their SHA-256: what is read stays small, also where DuckDB reads it. The hash is
 * that of the text without an apostrophe that `csv_safe` may have put before it; the apostrophe stands before the hash instead.
 * It does not count for the length, either: a text of 64 bytes would be long with it, and short without.
 */
const longest = 64;
const formula = "[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20]";
const guarded = new RegExp(`^'(?=${formula})`);

/** A text as it is, or what stands for it if it is long. */
export function shortText(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= longest) return text;
  if (!guarded.test(text)) return `=sha256:${hash("sha256", text)}`;
  return bytes <= longest + 1 ? text : `'=sha256:${hash("sha256", text.slice(1))}`;
}

/** Whether something stands for a text that is long. */
export function isShortened(text: string): boolean {
  return /^'?=sha256:/.test(text);
}

/** SQL: the same as `shortText`. */
export function shortTextSql(column: string): string {
  return `CASE WHEN strlen(${column}) <= ${longest} THEN ${column}
    WHEN regexp_matches(${column}, '^''${formula}')
      THEN CASE WHEN strlen(${column}) <= ${longest + 1} THEN ${column} ELSE '''=sha256:' || sha256(${column}[2:]) END
    ELSE '=sha256:' || sha256(${column}) END`;
}

/** A text, or what stands for it, without the apostrophe of `csv_safe`. */
export function unguardedText(text: string): string {
  return text.startsWith("'") ? text.replace(guarded, "") : text;
}

/** Looks at JSON text without turning it into values, so that no number is rounded and no second member of a name is lost. */

const quote = 34;
const backslash = 92;

/** The end of the string that begins at `start`, its closing quote included. The text must be JSON. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}

/** The members of a JSON object in their order, each with the text of its name, in quotes, and of its value. */
export function membersOf(text: string): readonly (readonly [name: string, value: string])[] {
  const members: [string, string][] = [];
  for (let at = text.indexOf('"'); at >= 0; ) {
    const nameEnd = endOfString(text, at);
    const start = skipBlanks(text, text.indexOf(":", nameEnd) + 1);
    const end = endOfValue(text, start);
    members.push([text.slice(at, nameEnd), text.slice(start, end)]);
    at = text.indexOf('"', end);
  }
  return members;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === "{" || first === "[") return endOfNested(text, start);
  let end = start;
  while (end < text.length && !isEnd(text.charCodeAt(end))) end++;
  return end;
}

/** Behind the bracket that closes the one at `start`; brackets in strings do not count. */
function endOfNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** A comma, a closing bracket or a blank. */
function isEnd(code: number): boolean {
  return code === 44 || code === 125 || code === 93 || isBlank(code);
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}
