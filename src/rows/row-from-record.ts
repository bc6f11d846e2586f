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

const fieldsOf = (kind: Kind) => new Set(columns[kind].map(({ field }) => field));
const namedFields: Readonly<Record<Kind, ReadonlySet<string | undefined>>> = {
  chunks: fieldsOf("chunks"),
  child_chunks: fieldsOf("child_chunks"),
  documents: fieldsOf("documents"),
  indexing_status: fieldsOf("indexing_status"),
  metadata_fields: fieldsOf("metadata_fields"),
  document_info: fieldsOf("document_info"),
  datasets: fieldsOf("datasets"),
  document_details: fieldsOf("document_details"),
};

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
  const row = { ...blankRows[kind] };
  const rest: [string, unknown][] = [];
  for (const { name, type, field, signed } of columns[kind]) {
    if (field === undefined) {
      row[name] = known[name] ?? null;
      continue;
    }
    const asSent = record[field] ?? null;
    const value = signed && !options.keepSignatures ? withoutSignaturesIn(asSent) : asSent;
    const converted = convert(type, value);
    row[name] = converted === mistyped ? null : converted;
    if (converted === mistyped || (type === "time" && isFinerThanColumn(value))) {
      options.drift(kind, field);
      rest.push([field, value]);
    }
  }
  const hasExtra = Object.hasOwn(row, "extra");
  for (const field in record) {
    if (namedFields[kind].has(field) || isKnown(kind, field, record[field], known)) continue;
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
  for (const [field, value] of rest) if (namedFields[kind].has(field)) row[field] = jsonText(value);
  return row;
}
