import fc from "fast-check";
import { expect, test } from "vitest";
import { type ListRows, noChildren, readChildList, wholeList } from "../../src/crawl/child-lists.js";
import { Prefetch } from "../../src/crawl/prefetch.js";
import type { PageRead } from "../../src/crawl/read-list.js";

const page: fc.Arbitrary<PageRead> = fc.record({
  rows: fc.array(fc.record({ id: fc.constantFrom("a", "b", "c") }), { maxLength: 4 }),
  docForm: fc.constant(null),
  total: fc.integer({ min: 0, max: 4 }),
  piece: fc.constantFrom(undefined, 2),
  unreadable: fc.constantFrom(undefined, [], ["row 1 cannot be rendered"]),
});

test("a list is complete after its first page exactly if a full read finds no problem, and then has the same rows", async () => {
  await fc.assert(
    fc.asyncProperty(page, async (first) => {
      const problems: string[] = [];
      const list = { chunkId: "chunk", readPage: async () => noChildren, first };
      const reading = { prefetch: new Prefetch(1), problem: (text: string) => void problems.push(text) };
      const read: ListRows[] = [];
      for await (const rows of readChildList(list, undefined, reading)) read.push(rows);
      const whole = wholeList(first);
      expect(whole === undefined).toBe(problems.length > 0);
      if (whole) expect(read).toEqual([whole]);
    }),
    { numRuns: 500 },
  );
});
