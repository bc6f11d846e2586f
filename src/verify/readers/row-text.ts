import type { ColumnType } from "../../rows/column.js";
import { columns, type Kind } from "../../rows/columns.js";
import { canonicalJson, canonicalText } from "./canonical-json.js";
import { unguardedText } from "./long-text.js";

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
