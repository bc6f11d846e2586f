import fc from "fast-check";
import { type Column, type ColumnType, columns, type Kind } from "../../src/rows/columns.js";
import { ExactNumber } from "../../src/rows/exact-json.js";
import { exactNumbers, jsonValues, names, numbers, texts } from "./json-arbitrary.js";

/** Values that kbdump adds to records of any kind. */
export const known = { dataset_id: "dataset", document_id: "document", segment_id: "segment", batch: "batch" };

/** The values that kbdump adds to records of this kind. */
export function knownOf(kind: Kind): Readonly<Record<string, string>> {
  const own = columns[kind].filter(({ name, field }) => name in known && !field);
  return Object.fromEntries(own.map(({ name }) => [name, known[name as keyof typeof known]]));
}

const ownValue = fc.constantFrom(...Object.values(known));

const rightValues: Readonly<Record<ColumnType, fc.Arbitrary<unknown>>> = {
  text: texts,
  integer: fc.oneof(fc.maxSafeInteger(), fc.constant(new ExactNumber("9223372036854775807"))),
  boolean: fc.boolean(),
  time: fc.oneof(
    fc.integer({ min: -62135596800, max: 253402300799 }),
    fc.double({ min: -1e9, max: 1e10, noNaN: true }),
  ),
  strings: fc.array(texts),
  list: fc.array(jsonValues, { maxLength: 3 }),
  object: jsonValues,
  any: jsonValues,
};

/** A record with known fields, most of them valid, and unknown fields, in any order. */
export function recordsOf(kind: Kind): fc.Arbitrary<Record<string, unknown>> {
  const field = ({ field = "", type }: Column) =>
    fc.tuple(fc.constant(field), fc.oneof(rightValues[type], fc.constant(null), jsonValues, numbers, exactNumbers));
  const named = columns[kind].filter((column) => column.field !== undefined).map(field);
  const ours = fc.tuple(
    fc.constantFrom(...Object.keys(known), "extra", "child_chunks"),
    fc.oneof(jsonValues, ownValue, fc.array(jsonValues)),
  );
  const made = fc.tuple(names, jsonValues);
  return fc.array(fc.oneof(...named, ours, made), { maxLength: 40 }).map((entries) => Object.fromEntries(entries));
}
