import * as v from "valibot";
import { count, listOf, orNull, pattern, result, text, truth } from "../schema.js";
import { type Column, type ColumnType, columns, type Kind } from "./columns.js";

/** ISO 8601, UTC. */
export const time = pattern("a UTC time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

/**
 * Rows of each file of a dump. `document_info` is null where the run did not ask which documents there are, `datasets` and
 * `document_details` are null without `details: true`.
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

/** Requests sent in all, those of them sent again, refused because of their rate, and the bytes received. */
export const requests = { sent: count, retried: count, throttled: count, bytes: count };

/** Fields of an unexpected type or without a column, by `table.field`, with how often. */
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

/** A row of one of the tables: its columns, each of which can be null. */
export function rowOf(kind: Kind) {
  const cell = ({ name, type }: Column) => [name, type === "any" ? cells.any : orNull(cells[type])] as const;
  return result(Object.fromEntries(columns[kind].map(cell)));
}
