import * as v from "valibot";
import { count } from "../schema.js";
import { allKinds, type Column, type ColumnType, columns, type Kind } from "./columns.js";
import { ExactNumber, jsonText } from "./exact-json.js";
import type { RawRecord, Row } from "./row.js";

export interface RowOptions {
  readonly keepSignatures: boolean;
  /**
   * Called for every field that does not fit: a known field of an unexpected type, a time finer than its column, or a field
   * without a column.
   */
  readonly drift: (kind: Kind, field: string) => void;
}

/** The columns of each kind by the service's field. */
const columnsByField: Readonly<Record<Kind, ReadonlyMap<string, Column>>> = perKind(
  (kind) => new Map(columns[kind].flatMap((column) => (column.field === undefined ? [] : [[column.field, column]]))),
);

/** The columns that kbdump itself provides. */
const ownNames: Readonly<Record<Kind, readonly string[]>> = perKind((kind) =>
  columns[kind].filter(({ field }) => field === undefined).map(({ name }) => name),
);

function perKind<T>(make: (kind: Kind) => T): Readonly<Record<Kind, T>> {
  return Object.fromEntries(allKinds.map((kind) => [kind, make(kind)])) as Record<Kind, T>;
}

/**
 * Rows with every column empty. A new row starts as a copy, because JavaScript keeps objects that grow column by column in a
 * slower form. JSON.parse creates the fast form.
 */
const blankRows: Readonly<Record<Kind, Record<string, unknown>>> = JSON.parse(
  JSON.stringify(
    Object.fromEntries(
      allKinds.map((kind) => [kind, Object.fromEntries(columns[kind].map(({ name }) => [name, null]))]),
    ),
  ),
);

/**
 * Converts a record to a row without loss. `extra` gets fields without a column, fields of an unexpected type (their column is
 * null), and times finer than a millisecond. `known` holds the columns that kbdump itself provides, such as dataset_id.
 */
export function rowFromRecord(kind: Kind, record: RawRecord, known: Row, options: RowOptions): Row {
  const row = blankRow(kind, known);
  for (const field in record) {
    const column = columnsByField[kind].get(field);
    const value = record[field] ?? null;
    const isHeld = column ? setCell(row, column, value, options) : isKnown(kind, field, value, known);
    if (!isHeld) return rowWithRest(kind, record, known, options);
  }
  return row;
}

function blankRow(kind: Kind, known: Row): Record<string, unknown> {
  const row = { ...blankRows[kind] };
  for (const name of ownNames[kind]) row[name] = known[name] ?? null;
  return row;
}

/** Sets a cell. Returns whether it holds the whole value. */
function setCell(row: Record<string, unknown>, column: Column, asSent: unknown, options: RowOptions): boolean {
  const value = storedValue(column, asSent, options);
  const converted = convert(column.type, value);
  row[column.name] = converted === mistyped ? null : converted;
  return converted !== mistyped && !(column.type === "time" && isFinerThanColumn(value));
}

function storedValue({ signed }: Column, asSent: unknown, { keepSignatures }: RowOptions): unknown {
  return signed && !keepSignatures ? withoutSignaturesIn(asSent) : asSent;
}

/** Makes the row of a record that does not fit its columns. It sets the columns first, then the other fields. */
function rowWithRest(kind: Kind, record: RawRecord, known: Row, options: RowOptions): Row {
  const row = blankRow(kind, known);
  const rest: [string, unknown][] = [];
  for (const [field, column] of columnsByField[kind]) {
    const value = record[field] ?? null;
    if (setCell(row, column, value, options)) continue;
    options.drift(kind, field);
    rest.push([field, storedValue(column, value, options)]);
  }
  const hasExtra = Object.hasOwn(row, "extra");
  for (const field in record) {
    if (columnsByField[kind].has(field) || isKnown(kind, field, record[field], known)) continue;
    if (Object.hasOwn(known, field) || isChildren(kind, field) || !hasExtra) options.drift(kind, field);
    rest.push([field, record[field]]);
  }
  return hasExtra ? withExtra(row, rest) : withText(kind, row, rest);
}

/**
 * Whether the dump has the value of this field elsewhere: in a column that kbdump itself provides, or, for the children that a chunk
 * embeds, in `child_chunks` (if the job reads child chunks).
 */
function isKnown(kind: Kind, field: string, value: unknown, known: Row): boolean {
  if (Object.hasOwn(known, field)) return value === null || value === known[field];
  return isChildren(kind, field) && (value === null || Array.isArray(value));
}

function isChildren(kind: Kind, field: string): boolean {
  return kind === "chunks" && field === "child_chunks";
}

function withExtra(row: Record<string, unknown>, rest: readonly [string, unknown][]): Row {
  row.extra = rest.length > 0 ? Object.fromEntries(rest) : null;
  return row;
}

/** In a table without `extra`, such as metadata_fields, stores a field of an unexpected type in its column as JSON text. */
function withText(kind: Kind, row: Record<string, unknown>, rest: readonly [string, unknown][]): Row {
  for (const [field, value] of rest) if (columnsByField[kind].has(field)) row[field] = jsonText(value);
  return row;
}

/**
 * Converts a row back to a record, as a service could send it. rowFromRecord makes the same row from it. Times are Unix seconds,
 * entries of `extra` become normal fields, and embedded children are missing. If the row cannot distinguish null from absent, most fields
 * are null.
 */
export function recordFromRow(kind: Kind, row: Row): RawRecord {
  const extra = isObject(row.extra) ? row.extra : {};
  const fields: [string, unknown][] = [];
  const placed = new Set<string>();
  for (const { name, type, field, sentToo, neverNull } of columns[kind]) {
    if (field === undefined) {
      if (sentToo && !Object.hasOwn(extra, name)) fields.push([name, row[name]]);
      continue;
    }
    const known = row[name] ?? null;
    const isInExtra = Object.hasOwn(extra, field) && (known === null || type === "time"); // the column only has milliseconds
    const value = isInExtra ? extra[field] : sent(type, known);
    placed.add(field);
    if (value !== null || !neverNull) fields.push([field, value]);
  }
  // Keeps the order of `extra`, so that rowFromRecord makes the same row again.
  for (const entry of Object.entries(extra)) if (!placed.has(entry[0])) fields.push(entry);
  return Object.fromEntries(fields);
}

function sent(type: (typeof columns)[Kind][number]["type"], value: unknown): unknown {
  return type === "time" && typeof value === "string" ? secondsOf(value) : value;
}

/** Unix seconds of an ISO time, whole if it has no fraction; null if it is not a time. */
function secondsOf(iso: string): number | null {
  const milliseconds = Date.parse(iso);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returned for a value that does not have its column's type. */
export const mistyped = Symbol("mistyped");

/** Converts a value for its row; null stays null. Returns `mistyped` if the column cannot hold it. Nothing is coerced. */
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

/** Whether a value is a whole number that fits a BIGINT, including numbers above 2^53. */
function isInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (!(value instanceof ExactNumber) || !/^-?\d{1,19}$/.test(value.text)) return false;
  return BigInt.asIntN(64, BigInt(value.text)) === BigInt(value.text);
}

/**
 * The range of times that a column can hold, in milliseconds: years 1 to 9999, as four-digit ISO times and DuckDB's TIMESTAMP
 * allow.
 */
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

/** Formats Unix seconds as `2025-03-06T13:20:00Z`, cut to the millisecond, with `.SSS` only if there is a fraction. */
export function isoTime(seconds: unknown): string | typeof mistyped {
  if (typeof seconds !== "number") return mistyped;
  const before = recent.get(seconds);
  if (before !== undefined) return before;
  const iso = isoTimeOf(seconds);
  if (recent.size >= 1000) recent.clear();
  recent.set(seconds, iso);
  return iso;
}

/** A cache of formatted times, because formatting is slow, and chunks of a document share the same seconds. */
const recent = new Map<number, string | typeof mistyped>();

function isoTimeOf(seconds: number): string | typeof mistyped {
  const milliseconds = millisecondsOf(seconds);
  if (!(milliseconds >= earliest && milliseconds <= latest)) return mistyped;
  const iso = new Date(milliseconds).toISOString();
  return milliseconds % 1000 === 0 ? `${iso.slice(0, 19)}Z` : iso;
}

/** Rounds down to whole milliseconds. The product alone would be wrong: 1.001 * 1000 is 1000.9999999999999. */
function millisecondsOf(seconds: number): number {
  const nearest = Math.round(seconds * 1000);
  return nearest / 1000 > seconds ? nearest - 1 : nearest;
}

/** Whether a time column loses part of this value, because it is finer than a millisecond. */
export function isFinerThanColumn(seconds: unknown): boolean {
  return typeof seconds === "number" ? millisecondsOf(seconds) / 1000 !== seconds : seconds instanceof ExactNumber;
}

/** How often fields had an unexpected type or no column: `table.field` → count. */
export type Drift = Readonly<Record<string, number>>;

export const driftSchema = v.record(v.string(), count, "an object");

/** An empty count. All documents without drift, which are most, share this object. */
export const noDrift: Drift = Object.freeze({});

/** Counts drift while rows are created. */
export class DriftCount {
  readonly #counts: Record<string, number>;

  /** `earlier` is the count so far. */
  constructor(earlier: Drift = noDrift) {
    this.#counts = { ...earlier };
  }

  readonly add = (kind: Kind, field: string): void => {
    const name = `${kind}.${field}`;
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  };

  /** The counts so far. */
  get drift(): Drift {
    for (const _ in this.#counts) return { ...this.#counts };
    return noDrift;
  }
}

/** The sum of several counts. */
export function sumOfDrift(drifts: readonly Drift[]): Drift {
  const sum: Record<string, number> = {};
  for (const [name, count] of drifts.flatMap(Object.entries)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/**
 * A signature exactly as the service writes it, right after the path of a link to a file. Releases that build the query with a
 * library escape the last character. No separator follows: anything after it is text.
 */
const signature = String.raw`\?timestamp=\d{10}&nonce=[0-9a-f]{32}&sign=[\w-]{43}(?:=|%3D)`;

/** A character of a path. The patterns below limit their number, so that matching takes linear time. */
const path = String.raw`[\w%+.~/-]`;

/** `/files/<id>/file-preview?timestamp=…`, and any further signatures in the same path, so that one pass finds all. */
const signedLink = new RegExp(`/files/${path}{1,200}${signature}(?:${path}{0,200}${signature})*`, "g");

const signatures = new RegExp(signature, "g");

/** Removes the signatures of links to files from a text. Everything else stays unchanged. */
export function withoutSignatures(text: string): string {
  if (!text.includes("/files/")) return text;
  return text.replace(signedLink, (link) => link.replace(signatures, ""));
}

/** Removes the signatures from every field of a record. */
export function recordWithoutSignatures(record: RawRecord): RawRecord {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, withoutSignaturesIn(value)]));
}

/** Removes the signatures from every string in a JSON value. */
export function withoutSignaturesIn(value: unknown): unknown {
  if (typeof value === "string") return withoutSignatures(value);
  if (Array.isArray(value)) return value.map(withoutSignaturesIn);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutSignaturesIn(item)]));
}
