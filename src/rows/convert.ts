import type { ColumnType } from "./column.js";
import { ExactNumber } from "./exact-json.js";

/** Says that a value is not of its column's type. */
export const mistyped = Symbol("mistyped");

/** The value as a row holds it, null as null; `mistyped` when it is not what the column takes. Nothing is coerced. */
export function convert(type: ColumnType, value: unknown): unknown {
  if (value === null) return null;
  switch (type) {
    case "text":
      return typeof value === "string" ? value : mistyped;
    case "integer":
      return isInteger(value) ? value : mistyped;
    case "boolean":
      return typeof value === "boolean" ? value : mistyped;
    case "time":
      return isoTime(value instanceof ExactNumber ? Number(value.text) : value);
    case "strings":
      return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : mistyped;
    case "list":
      return Array.isArray(value) ? value : mistyped;
    case "object":
    case "any":
      return value;
  }
}

/** Whole numbers that fit a BIGINT, those above 2^53 included. */
function isInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (!(value instanceof ExactNumber) || !/^-?\d{1,19}$/.test(value.text)) return false;
  return BigInt.asIntN(64, BigInt(value.text)) === BigInt(value.text);
}

/** Years 1 to 9999 in milliseconds: what an ISO time of four digits and a DuckDB TIMESTAMP both hold. */
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

/** Unix seconds, whole or not, as `2025-03-06T13:20:00Z`, cut to the millisecond and with `.SSS` only where there is a fraction. */
export function isoTime(seconds: unknown): string | typeof mistyped {
  if (typeof seconds !== "number") return mistyped;
  const before = recent.get(seconds);
  if (before !== undefined) return before;
  const iso = isoTimeOf(seconds);
  if (recent.size >= 1000) recent.clear();
  recent.set(seconds, iso);
  return iso;
}

/** Chunks of a document were made and indexed in the same seconds, and to write a date is slow. */
const recent = new Map<number, string | typeof mistyped>();

function isoTimeOf(seconds: number): string | typeof mistyped {
  const milliseconds = millisecondsOf(seconds);
  if (!(milliseconds >= earliest && milliseconds <= latest)) return mistyped;
  const iso = new Date(milliseconds).toISOString();
  return milliseconds % 1000 === 0 ? `${iso.slice(0, 19)}Z` : iso;
}

/** The last whole millisecond that is not later. The product alone misses it: 1.001 * 1000 is 1000.9999999999999. */
function millisecondsOf(seconds: number): number {
  const nearest = Math.round(seconds * 1000);
  return nearest / 1000 > seconds ? nearest - 1 : nearest;
}

/** Whether a time column cannot give this value back, because it is finer than a millisecond. */
export function isFinerThanColumn(seconds: unknown): boolean {
  return typeof seconds === "number" ? millisecondsOf(seconds) / 1000 !== seconds : seconds instanceof ExactNumber;
}
