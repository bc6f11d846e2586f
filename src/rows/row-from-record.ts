import * as v from "valibot";
import { count } from "../schema.js";
import { allKinds, type Column, type ColumnType, columns, type Kind } from "./columns.js";
import { ExactNumber, jsonText } from "./exact-json.js";
import type { RawRecord, Row } from "./row.js";

export interface RowOptions {
  readonly keepSignatures: boolean;
  /** Called with every known field of an unexpected type, every time finer than its column, and every field without a place. */
  readonly drift: (kind: Kind, field: string) => void;
}

/** The columns of each kind by the fields of the service that they come from. */
const columnsByField: Readonly<Record<Kind, ReadonlyMap<string, Column>>> = perKind(
  (kind) => new Map(columns[kind].flatMap((column) => (column.field === undefined ? [] : [[column.field, column]]))),
);

/** The names of the columns that kbdump itself knows. */
const ownNames: Readonly<Record<Kind, readonly string[]>> = perKind((kind) =>
  columns[kind].filter(({ field }) => field === undefined).map(({ name }) => name),
);

function perKind<T>(make: (kind: Kind) => T): Readonly<Record<Kind, T>> {
  return Object.fromEntries(allKinds.map((kind) => [kind, make(kind)])) as Record<Kind, T>;
}

/**
 * Rows with every column and nothing in it. A row begins as a copy of one, because JavaScript keeps objects that grow
 * column by column in a form that takes longer to read and to write; what JSON.parse makes is in the fast form.
 */
const blankRows: Readonly<Record<Kind, Record<string, unknown>>> = JSON.parse(
  JSON.stringify(
    Object.fromEntries(
      allKinds.map((kind) => [kind, Object.fromEntries(columns[kind].map(({ name }) => [name, null]))]),
    ),
  ),
);

/**
 * The row of a record, lossless: a field that no column names goes to `extra`, and so does one of an unexpected type,
 * whose column is null, and a time finer than its column, which holds the millisecond. `known` holds the columns that kbdump itself knows, such as dataset_id.
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

/** Whether the cell holds the whole value then. */
function setCell(row: Record<string, unknown>, column: Column, asSent: unknown, options: RowOptions): boolean {
  const value = storedValue(column, asSent, options);
  const converted = convert(column.type, value);
  row[column.name] = converted === mistyped ? null : converted;
  return converted !== mistyped && !(column.type === "time" && isFinerThanColumn(value));
}

function storedValue({ signed }: Column, asSent: unknown, { keepSignatures }: RowOptions): unknown {
  return signed && !keepSignatures ? withoutSignaturesIn(asSent) : asSent;
}

/** The row of a record that has more than its columns hold: of the columns first, then of the other fields. */
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

/** Fields that the row has already: a column of kbdump's own with the same value, and the children embedded in a chunk. */
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

/** Without an extra, as metadata_fields is, a field of an unexpected type stands in its column as JSON text. */
function withText(kind: Kind, row: Record<string, unknown>, rest: readonly [string, unknown][]): Row {
  for (const [field, value] of rest) if (columnsByField[kind].has(field)) row[field] = jsonText(value);
  return row;
}

/**
 * The record that a row was made of, as a service could send it: rowFromRecord makes the same row of it again. Times are
 * Unix seconds, what stands in `extra` is a field like any other, and the children that a chunk embedded are not there.
 * Where the row cannot tell null from absent, most fields are null.
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
    const isInExtra = Object.hasOwn(extra, field) && (known === null || type === "time"); // the column has it to the millisecond
    const value = isInExtra ? extra[field] : sent(type, known);
    placed.add(field);
    if (value !== null || !neverNull) fields.push([field, value]);
  }
  // In the order of extra, which is the one in which rowFromRecord finds them.
  for (const entry of Object.entries(extra)) if (!placed.has(entry[0])) fields.push(entry);
  return Object.fromEntries(fields);
}

function sent(type: (typeof columns)[Kind][number]["type"], value: unknown): unknown {
  return type === "time" && typeof value === "string" ? secondsOf(value) : value;
}

/** Unix seconds of an ISO time, whole where it has no fraction; null for what is no time. */
function secondsOf(iso: string): number | null {
  const milliseconds = Date.parse(iso);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

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

/** How often fields had an unexpected type, or no place, by `table.field`. */
export type Drift = Readonly<Record<string, number>>;

export const driftSchema = v.record(v.string(), count, "an object");

/** No drift: one for all, as there may be very many documents without any. */
export const noDrift: Drift = Object.freeze({});

/** Counts drift while rows are made. */
export class DriftCount {
  readonly #counts: Record<string, number>;

  /** `earlier` is what was counted before. */
  constructor(earlier: Drift = noDrift) {
    this.#counts = { ...earlier };
  }

  readonly add = (kind: Kind, field: string): void => {
    const name = `${kind}.${field}`;
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  };

  /** The counts as they are now. */
  get drift(): Drift {
    for (const _ in this.#counts) return { ...this.#counts };
    return noDrift;
  }
}

/** Several counts added up. */
export function sumOfDrift(drifts: readonly Drift[]): Drift {
  const sum: Record<string, number> = {};
  for (const [name, count] of drifts.flatMap(Object.entries)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/**
 * A signature exactly as the service writes it, right behind the path of a link to a file. Releases that build the query
 * with a library escape the last character. No separator follows: what stands behind it is text, whatever it looks like.
 */
const signature = String.raw`\?timestamp=\d{10}&nonce=[0-9a-f]{32}&sign=[\w-]{43}(?:=|%3D)`;

/** Characters of a path. Their number is bounded, so that the time grows with the text and not with its square. */
const path = String.raw`[\w%+.~/-]`;

/** `/files/<id>/file-preview?timestamp=…` and all that follow in the same path, so that a second pass finds nothing more. */
const signedLink = new RegExp(`/files/${path}{1,200}${signature}(?:${path}{0,200}${signature})*`, "g");

const signatures = new RegExp(signature, "g");

/** The text without the signatures of its links to files. Everything else stays as it is, to the character. */
export function withoutSignatures(text: string): string {
  if (!text.includes("/files/")) return text;
  return text.replace(signedLink, (link) => link.replace(signatures, ""));
}

/** The same for every field of a record. */
export function recordWithoutSignatures(record: RawRecord): RawRecord {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, withoutSignaturesIn(value)]));
}

/** The same for every string in a JSON value. */
export function withoutSignaturesIn(value: unknown): unknown {
  if (typeof value === "string") return withoutSignatures(value);
  if (Array.isArray(value)) return value.map(withoutSignaturesIn);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutSignaturesIn(item)]));
}
