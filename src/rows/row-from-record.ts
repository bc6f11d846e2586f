import type { Column } from "./column.js";
import { allKinds, columns, type Kind } from "./columns.js";
import { convert, isFinerThanColumn, mistyped } from "./convert.js";
import { jsonText } from "./exact-json.js";
import type { RawRecord, Row } from "./row.js";
import { withoutSignaturesIn } from "./signatures.js";

export interface RowOptions {
  readonly keepSignatures: boolean;
  /** Told of every known field of an unexpected type, every time finer than its column, and every field without a place. */
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
