import { expect } from "vitest";
import { type ColumnType, columns, type Kind } from "../../../src/rows/columns.js";
import { ExactNumber, parseJson } from "../../../src/rows/exact-json.js";
import type { Row } from "../../../src/rows/row.js";

/** Replaces lone surrogates in all strings and member names, because UTF-8 cannot hold them. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name.toWellFormed(), wellFormed(item)]));
}

/** Converts an ISO time in milliseconds to microseconds since 1970. */
const micros = (iso: unknown) => String(BigInt(Date.parse(String(iso))) * 1000n);

/** The cell that a reader must find for a value. Integers become text, times microseconds; JSON is parsed without rounding. */
function expectedCell(type: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === "integer") return value instanceof ExactNumber ? value.text : String(value);
  if (type === "time") return micros(value);
  return wellFormed(value);
}

/**
 * Converts a cell from a reader, as text or already parsed, to the same form. For a column of any type, `sent` decides
 * between string and JSON.
 */
function foundCell(type: ColumnType, text: unknown, sent: unknown): unknown {
  if (text === null) return null;
  if (typeof text === "object" && "json" in text) return text.json;
  if (typeof text !== "string") throw new Error(`${typeof text} ${text} is no text`);
  if (type === "time" && text.includes("T")) return micros(text);
  if (type === "boolean" || type === "strings" || type === "list" || type === "object") return parseJson(text);
  if (type === "any" && typeof sent !== "string") return element(parseJson(`[${text}]`));
  return text;
}

function element(list: unknown): unknown {
  return Array.isArray(list) && list.length === 1 ? list[0] : list;
}

/** Expects the cells, as text, to equal the rows, one by one and in order. */
export function expectCells(kind: Kind, found: readonly (readonly unknown[])[], rows: readonly Row[]): void {
  expect(found.length, kind).toBe(rows.length);
  for (const [at, row] of rows.entries()) {
    const cells = columns[kind].map(({ name, type }, place) => [
      name,
      foundCell(type, found[at]?.[place] ?? null, row[name]),
    ]);
    const expected = columns[kind].map(({ name, type }) => [name, expectedCell(type, row[name])]);
    expect(cells, `${kind} row ${at + 1}`).toStrictEqual(expected);
  }
}
