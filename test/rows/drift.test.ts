import { describe, expect, it } from "vitest";
import { DriftCount, sumOfDrift } from "../../src/rows/row-from-record.js";

describe("DriftCount", () => {
  it("counts by table and field, whatever the field is called", () => {
    const count = new DriftCount();
    for (const field of ["tokens", "constructor", "tokens", "__proto__"]) count.add("chunks", field);
    count.add("child_chunks", "tokens");
    expect(Object.entries(count.drift)).toEqual([
      ["chunks.tokens", 2],
      ["chunks.constructor", 1],
      ["chunks.__proto__", 1],
      ["child_chunks.tokens", 1],
    ]);
  });

  it("continues from an earlier count, and leaves that count unchanged", () => {
    const earlier = { "chunks.tokens": 2 };
    const count = new DriftCount(earlier);
    const before = count.drift;
    count.add("chunks", "tokens");
    expect([earlier, before, count.drift]).toEqual([
      { "chunks.tokens": 2 },
      { "chunks.tokens": 2 },
      { "chunks.tokens": 3 },
    ]);
  });
});

describe("sumOfDrift", () => {
  it("adds up", () => {
    expect(sumOfDrift([])).toEqual({});
    expect(sumOfDrift([{ a: 1, b: 2 }, {}, { b: 3, c: 4 }])).toEqual({ a: 1, b: 5, c: 4 });
  });
});
