import fc from "fast-check";
import { expect, test } from "vitest";
import { type Copy, copiesToRemove } from "../../../src/store/copy/make-room.js";

const now = Date.parse("2026-11-20T12:00:00Z");
const hour = 3_600_000;
const copyOf = (path: string, bytes: number, hours: number): Copy => ({ path, bytes, usedAt: now - hours * hour });

test("the copies go first that were not used for the longest time, and no more than needed", () => {
  const copies = [copyOf("b", 30, 2), copyOf("c", 30, 1), copyOf("a", 30, 3)];
  const chosen = (needed: number, most: number) =>
    copiesToRemove(copies, { needed, most, now })?.map(({ path }) => path);
  expect(chosen(10, 100)).toEqual([]);
  expect(chosen(11, 100)).toEqual(["a"]);
  expect(chosen(41, 100)).toEqual(["a", "b"]);
  expect(chosen(100, 100)).toEqual(["a", "b", "c"]);
  expect(chosen(101, 100)).toBeUndefined();
});

test("a copy that is in use stays, whatever is needed", () => {
  const copies = [copyOf("served", 60, 0), copyOf("old", 30, 5)];
  expect(copiesToRemove(copies, { needed: 40, most: 100, now })).toEqual([copies[1]]);
  expect(copiesToRemove(copies, { needed: 41, most: 100, now })).toBeUndefined();
});

test("what is left fits whenever copies are chosen, and none of them is needless or in use", () => {
  const copy = fc.record({
    path: fc.uuid(),
    bytes: fc.integer({ min: 1, max: 100 }),
    usedAt: fc.integer({ min: now - 5 * hour, max: now }),
  });
  fc.assert(
    fc.property(fc.array(copy, { maxLength: 8 }), fc.nat(200), fc.nat(400), (copies, needed, most) => {
      const chosen = copiesToRemove(copies, { needed, most, now });
      const bytes = (some: readonly Copy[]) => some.reduce((sum, each) => sum + each.bytes, 0);
      const fixed = copies.filter(({ usedAt }) => now - usedAt < 300_000);
      if (chosen === undefined) {
        expect(bytes(fixed) + needed).toBeGreaterThan(most);
        return;
      }
      expect(bytes(copies) - bytes(chosen) + needed).toBeLessThanOrEqual(most);
      expect(chosen.filter((each) => fixed.includes(each))).toEqual([]);
      const last = chosen.at(-1);
      if (last) expect(bytes(copies) - bytes(chosen) + last.bytes + needed).toBeGreaterThan(most);
    }),
  );
});
