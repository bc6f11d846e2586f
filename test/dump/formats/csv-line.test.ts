import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type CsvCell, csvLine } from "../../../src/dump/formats/csv/csv-line.js";

/** Texts full of what has a meaning in CSV or to a spreadsheet, and any others. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."\",\r\n=+-@\t'ab\uff1d\uff0b\uff0d\uff20") }),
  fc.string({ unit: "binary" }),
);
const cell: fc.Arbitrary<CsvCell> = fc.oneof(fc.constant(null), text, fc.double(), fc.integer(), fc.bigInt());

it("writes the rows that csv-stringify writes", () => {
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1, maxLength: 5 }), fc.boolean(), (cells, safe) => {
      const line = stringify([cells], { quoted_match: /^$|\r/, escape_formulas: safe, eof: false });
      expect(csvLine(cells, safe)).toBe(line);
    }),
    { numRuns: 5_000 },
  );
});
