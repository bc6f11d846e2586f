import * as v from "valibot";
import { count, listOf, orNull, pattern, result, text, truth } from "../schema.js";
import { type Column, type ColumnType, columns, type Kind } from "./columns.js";

/** A time in ISO 8601 and UTC. */
export const time = pattern("a UTC time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

/**
 * The number of rows in each file of a dump. `document_info` is null if the run did not list documents; `datasets` and
 * `document_details` are null with `details: false`.
 */
export const rowCounts = result({
  chunks: count,
  child_chunks: count,
  documents: count,
  indexing_status: count,
  metadata_fields: count,
  document_info: orNull(count),
  datasets: orNull(count),
  document_details: orNull(count),
});

/** Requests sent in total, those retried, those refused because of their rate, and bytes received. */
export const requests = { sent: count, retried: count, throttled: count, bytes: count };

/** Fields with an unexpected type or no column: `table.field` → count. */
export const drift = v.record(v.string(), count);

const cells = {
  text,
  integer: v.pipe(v.number(), v.integer()),
  boolean: truth,
  time,
  strings: listOf(text),
  list: listOf(v.unknown()),
  object: v.record(v.string(), v.unknown()),
  any: v.unknown(),
} satisfies Record<ColumnType, v.GenericSchema>;

/** A row of a table with its columns, each of which may be null. */
export function rowOf(kind: Kind) {
  const cell = ({ name, type }: Column) => [name, type === "any" ? cells.any : orNull(cells[type])] as const;
  return result(Object.fromEntries(columns[kind].map(cell)));
}
