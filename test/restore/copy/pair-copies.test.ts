import fc from "fast-check";
import { expect, test } from "vitest";
import { pairCopies } from "../../../src/restore/copy/compare-rows.js";
import { inFull } from "../../rounds.js";

const rowsOf = (texts: string, side: string) =>
  [...texts].map((text, at) => ({ id: `${text}${side}${at}`, position: at }));
/** A row says its first letter; the rest tells equal ones apart. */
const textOf = ({ id }: { readonly id: string }) => id.slice(0, 1);

function paired(old: string, live: string) {
  const { now, moved } = pairCopies(rowsOf(old, "o"), rowsOf(live, "l"), textOf);
  return { now: now.map(({ id }) => id).join(" "), moved: [...moved] };
}

test("a missing row moves no other; one that the list does not have keeps its id", () => {
  expect(paired("abcdef", "abdef")).toEqual({ now: "ao0 bo1 do3 eo4 fo5", moved: [] });
  expect(paired("abc", "abXc")).toEqual({ now: "ao0 bo1 Xl2 co2", moved: [] });
  expect(paired("abc", "abbc")).toEqual({ now: "ao0 bo1 bl2 co2", moved: [] });
});

test("another text at the same place is the copy of the row there", () => {
  expect(paired("abc", "aXc")).toEqual({ now: "ao0 bo1 co2", moved: [] });
  expect(paired("abc", "aXYc")).toEqual({ now: "ao0 bo1 Yl2 co2", moved: [] });
});

test("a row that stands elsewhere is one moved row", () => {
  expect(paired("abcde", "acdbe")).toEqual({ now: "ao0 co2 do3 bo1 eo4", moved: ["bo1"] });
});

test("any two lists: every row once, and what says the same in order is no difference", () => {
  const lists = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 }).map((rows) => rows.join(""));
  fc.assert(
    fc.property(lists, lists, (old, live) => {
      const { now, ids, moved } = pairCopies(rowsOf(old, "o"), rowsOf(live, "l"), textOf);
      expect(new Set(now.map(({ id }) => id)).size).toBe(live.length);
      expect([...ids.values(), ...now.map(({ id }) => id).filter((id) => !ids.has(id))].sort()).toEqual(
        rowsOf(live, "l")
          .map(({ id }) => id)
          .sort(),
      );
      const places = now.flatMap(({ id }) => (ids.has(id) && !moved.has(id) ? [Number(id.slice(2))] : []));
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      if (old === live) expect([...moved, ...now.filter(({ id }) => !ids.has(id))]).toEqual([]);
    }),
  );
});

test.runIf(inFull)(
  "lists of 100,000 rows with nothing, little or everything in common take seconds at the most",
  () => {
    const rows = Array.from({ length: 100_000 }, (_, at) => ({ id: `row ${at}`, position: at }));
    const same = ({ id }: { readonly id: string }) => id;
    expect(
      pairCopies(
        rows,
        rows.filter((_, at) => at % 1_000 !== 7),
        same,
      ).moved.size,
    ).toBe(0);
    expect(pairCopies(rows, rows.toReversed(), same).moved.size).toBe(100_000);
    const others = rows.map(({ id, position }) => ({ id: `other ${id}`, position }));
    expect(pairCopies(rows, others, same)).toMatchObject({ ids: { size: 100_000 }, moved: { size: 0 } });
  },
  20_000,
);
