import { columns, type Kind } from "./columns.js";
import type { RawRecord, Row } from "./row.js";

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
export function secondsOf(iso: string): number | null {
  const milliseconds = Date.parse(iso);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
