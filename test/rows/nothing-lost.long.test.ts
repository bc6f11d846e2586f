import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ColumnType, columns, type Kind } from "../../src/rows/columns.js";
import { ExactNumber } from "../../src/rows/exact-json.js";
import type { Row } from "../../src/rows/row.js";
import { rowFromRecord } from "../../src/rows/row-from-record.js";
import { known, knownOf, recordsOf } from "./record-arbitrary.js";

/** Whether a value has the type of a column; written independently of the program. */
const fits: Readonly<Record<ColumnType, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  integer: (value) => {
    const text = value instanceof ExactNumber ? value.text : typeof value === "number" ? String(value) : "none";
    return /^-?\d{1,30}$/.test(text) && BigInt(text) >= -(2n ** 63n) && BigInt(text) < 2n ** 63n;
  },
  boolean: (value) => value === true || value === false,
  time: (value) => {
    const seconds = value instanceof ExactNumber ? Number(value.text) : value;
    if (typeof seconds !== "number") return false;
    const year = new Date(Math.floor(seconds * 1000)).getUTCFullYear();
    return year >= 1 && year <= 9999;
  },
  strings: (value) => Array.isArray(value) && !value.some((item) => typeof item !== "string"),
  list: (value) => Array.isArray(value),
  object: () => true,
  any: () => true,
};

const secondsOf = (value: unknown) => Number(value instanceof ExactNumber ? value.text : value);

/** Whether the column has a rounded time, so that the exact value must be in `extra`. */
const isCut = (value: unknown, found: unknown) =>
  value instanceof ExactNumber || Date.parse(String(found)) / 1000 !== value;

function expectNothingLost(kind: Kind, record: Readonly<Record<string, unknown>>, row: Row): string[] {
  const extra = new Map(Object.entries(row.extra ?? {}));
  const drift: string[] = [];
  const expectExtra = (field: string, value: unknown) => {
    expect(extra.has(field), `extra has ${JSON.stringify(field)}`).toBe(true);
    expect(extra.get(field)).toBe(value);
    extra.delete(field);
  };
  for (const [field, value] of Object.entries(record)) {
    const column = columns[kind].find((each) => each.field === field);
    const own = Object.entries(known).find(
      ([name]) => name === field && columns[kind].some((each) => each.name === name && !each.field),
    );
    if (column && value === null) expect(row[column.name]).toBeNull();
    else if (column && fits[column.type](value)) {
      const found = row[column.name];
      if (column.type !== "time") expect(found).toEqual(value);
      else {
        const left = secondsOf(value) - Date.parse(String(found)) / 1000;
        expect([left > -1e-6, left < 0.001 + 1e-6]).toEqual([true, true]);
        if (!isCut(value, found)) continue;
        drift.push(field);
        expectExtra(field, value);
      }
    } else if (column) {
      expect(row[column.name]).toBeNull();
      drift.push(field);
      expectExtra(field, value);
    } else if (own) {
      expect(row[field]).toBe(own[1]);
      if (value === null || value === own[1]) continue;
      drift.push(field);
      expectExtra(field, value);
    } else if (kind === "chunks" && field === "child_chunks") {
      if (value === null || Array.isArray(value)) continue;
      drift.push(field);
      expectExtra(field, value);
    } else expectExtra(field, value);
  }
  expect([...extra.keys()], "nothing else is in extra").toEqual([]);
  return drift;
}

describe("every field of the input is found in the output:", () => {
  it.each<Kind>(["chunks", "child_chunks", "indexing_status"])("%s", (kind) => {
    const context = knownOf(kind);
    fc.assert(
      fc.property(recordsOf(kind), (record) => {
        const counted: string[] = [];
        const row = rowFromRecord(kind, record, context, {
          keepSignatures: true,
          drift: (_kind, field) => counted.push(field),
        });
        const drift = expectNothingLost(kind, record, row);
        expect(counted.sort()).toEqual(drift.sort());
        expect(Object.keys(row)).toEqual(columns[kind].map(({ name }) => name));
        if (row.extra !== null) expect(Object.keys(row.extra ?? {})).not.toHaveLength(0);
      }),
      { numRuns: 400 },
    );
  });
});
