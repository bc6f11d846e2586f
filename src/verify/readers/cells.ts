import { hash } from "node:crypto";
import { type ColumnType, columns, type Kind } from "../../rows/columns.js";
import { canonicalJson, canonicalText, isObject } from "./json-text.js";
import { RowError, type RowText } from "./rows.js";

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
      return time.test(text) ? text : undefined;
    case "strings":
      return canonicalJson(text, isStrings);
    case "list":
      return canonicalJson(text, Array.isArray);
    case "object":
      return canonicalJson(text, isObject);
    case "any":
      return canonicalText(text);
  }
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** A whole number that fits a BIGINT, in its only form. */
function isInteger(text: string): boolean {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return false;
  return text.length < 16 || BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

const time = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;

/** The row without the apostrophes of `csv_safe`. They cannot be told from those of the text: compare both sides so. */
export function unguardedRow(row: RowText): RowText {
  return row.map((text) => (text === null ? null : unguardedText(text)));
}

/**
 * Texts of more than 64 bytes in columns for long ones are compared by their SHA-256: what is read stays small, also where DuckDB reads it. The hash is
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
