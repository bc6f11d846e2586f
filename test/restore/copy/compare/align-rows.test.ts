import fc from "fast-check";
import { expect, test } from "vitest";
import { alignRows } from "../../../../src/restore/copy/compare/compare-document.js";

/** A row says its first letter; the rest tells equal ones apart. */
const textOf = (row: string) => row.slice(0, 1);

function aligned(old: string, live: string) {
  const rowsOf = (texts: string, side: string) => [...texts].map((text, at) => `${text}${side}${at}`);
  const { pairs, missing, extra } = alignRows(rowsOf(old, "o"), rowsOf(live, "l"), textOf);
  const changed = pairs.filter(({ kind }) => kind !== "same").map(({ old, live, kind }) => `${old} ${kind} ${live}`);
  return { changed, missing, extra, same: pairs.length - changed.length };
}

test("a missing row moves no other, also among equal ones", () => {
  expect(aligned("abcdef", "abdef")).toEqual({ changed: [], missing: ["co2"], extra: [], same: 5 });
  expect(aligned("xaxbxc", "axbxc")).toEqual({ changed: [], missing: ["xo0"], extra: [], same: 5 });
});

test("a row that the list does not have is extra, and a second copy of one, too", () => {
  expect(aligned("abc", "abXc")).toEqual({ changed: [], missing: [], extra: ["Xl2"], same: 3 });
  expect(aligned("abc", "abbc")).toMatchObject({ changed: [], missing: [], same: 3, extra: [expect.any(String)] });
});

test("another text at the same place is one changed row", () => {
  expect(aligned("abc", "aXc")).toEqual({ changed: ["bo1 changed Xl1"], missing: [], extra: [], same: 2 });
  expect(aligned("abc", "aXYc")).toEqual({ changed: ["bo1 changed Xl1"], missing: [], extra: ["Yl2"], same: 2 });
});

test("a row that stands elsewhere is one moved row", () => {
  expect(aligned("abcde", "acdbe")).toEqual({ changed: ["bo1 moved bl3"], missing: [], extra: [], same: 4 });
});

test("any two lists: every row once, pairs that say the same where they should, and none differs from itself", () => {
  const lists = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 }).map((rows) => rows.join(""));
  fc.assert(
    fc.property(lists, lists, (old, live) => {
      const rowsOf = (texts: string, side: string) => [...texts].map((text, at) => `${text}${side}${at}`);
      const [olds, lives] = [rowsOf(old, "o"), rowsOf(live, "l")];
      const { pairs, missing, extra } = alignRows(olds, lives, textOf);
      expect([...pairs.map((pair) => pair.old), ...missing].sort()).toEqual(olds.toSorted());
      expect([...pairs.map((pair) => pair.live), ...extra].sort()).toEqual(lives.toSorted());
      for (const pair of pairs) expect(textOf(pair.old) === textOf(pair.live)).toBe(pair.kind !== "changed");
      const inPlace = pairs.filter(({ kind }) => kind === "same").map((pair) => lives.indexOf(pair.live));
      expect(inPlace).toEqual(inPlace.toSorted((one, other) => one - other));
      if (old === live) expect(pairs.every(({ kind }) => kind === "same")).toBe(true);
    }),
  );
});

test("lists of 100,000 rows with nothing, little or everything in common take seconds at the most", () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => `row ${at}`);
  const same = (row: string) => row;
  const fewer = rows.filter((_, at) => at % 1_000 !== 7);
  expect(alignRows(rows, fewer, same)).toMatchObject({
    pairs: { length: 99_900 },
    missing: { length: 100 },
    extra: [],
  });
  const others = rows.map((row) => `other ${row}`);
  expect(alignRows(rows, others, same)).toMatchObject({ pairs: { length: 100_000 }, missing: [], extra: [] });
  const edited = rows.map((row, at) => (at % 10 === 0 ? `edited ${row}` : row));
  const { pairs } = alignRows(rows, edited, same);
  expect(pairs.filter(({ kind }) => kind === "changed")).toHaveLength(10_000);
  expect(pairs.filter(({ kind }) => kind === "same")).toHaveLength(90_000);
});
