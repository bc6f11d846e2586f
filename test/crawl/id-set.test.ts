import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdSet } from "../../src/crawl/id-set.js";
import { inFull } from "../rounds.js";

/** Different kinds of ids, many of them equal or nearly equal. */
const near = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.constantFrom(0, 9, 14, 24, 35)).map(([value, at]) => {
  const id = "00000000-0000-4000-8000-000000000000".split("");
  id[at] = (value % 16).toString(16);
  id[35] = ((value >> 2) % 16).toString(16);
  return id.join("");
});
const id = fc.oneof(
  near,
  fc.uuid(),
  near.map((text) => text.toUpperCase()),
  fc.string({ maxLength: 3 }),
  fc.constantFrom("", "constructor", "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"),
);

describe("IdSet", () => {
  it("contains what a Set contains, in the same order", () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 120 }), (ids) => {
        const set = new IdSet();
        const model = new Set<string>();
        for (const each of ids) {
          expect(set.add(each)).toBe(!model.has(each));
          model.add(each);
          expect(set.size).toBe(model.size);
        }
        expect([...model].map((_, place) => set.at(place))).toEqual([...model]);
        expect(set.at(model.size)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it.runIf(inFull)("contains 200,000 ids that differ only in their last digits", () => {
    const set = new IdSet();
    const idOf = (at: number) => `00000000-0000-4000-8000-${at.toString(16).padStart(12, "0")}`;
    for (let at = 0; at < 200_000; at++) set.add(idOf(at));
    for (let at = 0; at < 200_000; at++) if (set.add(idOf(at))) throw new Error(`${idOf(at)} was not there`);
    expect(set.at(123_456)).toBe(idOf(123_456));
    expect(set.size).toBe(200_000);
  });
});
