import fc from "fast-check";
import { expect, test } from "vitest";
import type { Addition } from "../../../src/journal/journal-state.js";
import { alignChunks } from "../../../src/restore/copy/copy-rows.js";

interface Chunk {
  readonly id: string;
  readonly hash: string;
}

const said = (hash: string, id = hash) => ({ id, hash });
const rows = (hashes: string) => [...hashes];
const added = (first: number, ...ids: readonly string[]): Addition => ({ first, rows: ids.length, ids });
const lost = (first: number, rows: number): Addition => ({ first, rows, ids: null });

/** The result of `alignChunks` with ids instead of chunks. */
function idsOf({ copies, surplus, stranger }: ReturnType<typeof alignChunks<Chunk>>) {
  return { copies: copies.map((chunk) => chunk?.id), surplus: surplus.map(({ id }) => id), stranger: stranger?.id };
}

test("chunks in the journal are matched by their ids, and a missing one leaves its place empty", () => {
  const there = [said("a", "1"), said("c", "3")];
  const found = alignChunks(rows("abcd"), there, [added(0, "1", "2"), added(2, "3")]);
  expect(idsOf(found)).toEqual({ copies: ["1", undefined, "3", undefined], surplus: [], stranger: undefined });
});

test("a chunk of a request that counts as not done is surplus, by its texts", () => {
  const there = [said("a", "1"), said("b", "2"), said("c", "3")];
  const found = alignChunks(rows("abcd"), there, [added(0, "1"), lost(1, 2)]);
  expect(idsOf(found)).toEqual({
    copies: ["1", undefined, undefined, undefined],
    surplus: ["2", "3"],
    stranger: undefined,
  });
});

test.each([
  ["before", ["1", "late", "2", "3"]],
  ["behind", ["1", "2", "late", "3"]],
  ["behind all others", ["1", "2", "3", "late"]],
])("a request that arrived %s the one that was sent in its place is surplus", (_, ids) => {
  const texts: Readonly<Record<string, string>> = { 1: "a", late: "b", 2: "b", 3: "c" };
  const there = ids.map((id) => said(texts[id] ?? "", id));
  const found = alignChunks(rows("abc"), there, [added(0, "1"), lost(1, 1), added(1, "2"), added(2, "3")]);
  expect(idsOf(found)).toEqual({ copies: ["1", "2", "3"], surplus: ["late"], stranger: undefined });
});

test("surplus is no copy of a later chunk with the same texts, whose request was never sent", () => {
  const found = alignChunks(rows("abxb"), [said("b", "2"), said("b", "late")], [lost(1, 1), added(1, "2")]);
  expect(idsOf(found)).toEqual({
    copies: [undefined, "2", undefined, undefined],
    surplus: ["late"],
    stranger: undefined,
  });
});

test("a chunk that this copy did not add is foreign, even with the texts of the dump, and so is a changed one", () => {
  expect(idsOf(alignChunks(rows("ab"), [said("a", "1"), said("b", "x")], [added(0, "1")])).stranger).toBe("x");
  expect(idsOf(alignChunks(rows("ab"), [said("a", "1"), said("?", "x")], [added(0, "1"), lost(1, 1)])).stranger).toBe(
    "x",
  );
  expect(idsOf(alignChunks(rows("ab"), [said("changed", "1")], [added(0, "1")])).stranger).toBe("1");
});

/**
 * The outcome of a request. `late`: it arrives after this many other requests; `ended`: the service stored it, but the process
 * ended before the answer.
 */
const fate = fc.oneof(
  { weight: 4, arbitrary: fc.constant("answered" as const) },
  fc.constant("never" as const),
  fc.constant("ended" as const),
  fc.record({ late: fc.nat(3) }),
);

test("whatever answers get lost, the chunks without the surplus are those of the dump, in order", () => {
  const requests = fc.array(fc.record({ size: fc.integer({ min: 1, max: 3 }), fate }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 20 }), requests, (texts, sent) => {
      const planned = rows(texts);
      let there: Chunk[] = [];
      const additions: Addition[] = [];
      let late: { left: number; readonly chunks: readonly Chunk[] }[] = [];
      let next = 0;
      let ids = 0;
      const arrive = (passed: number) => {
        for (const one of late) one.left -= passed;
        for (const { left, chunks } of late) if (left < 0) there.push(...chunks);
        late = late.filter(({ left }) => left >= 0);
      };
      const take = () => {
        const found = alignChunks(planned, there, additions);
        expect(found.stranger).toBeUndefined();
        there = there.filter((chunk) => !found.surplus.includes(chunk));
        next = found.copies.findLastIndex((copy) => copy !== undefined) + 1;
      };
      for (const { size, fate } of sent) {
        arrive(1);
        const chunks = planned.slice(next, next + size).map((hash) => said(hash, `${++ids}`));
        const isStored = fate === "answered" || fate === "ended";
        if (isStored) there.push(...chunks);
        else if (fate !== "never") late.push({ left: fate.late, chunks });
        additions.push(fate === "answered" ? added(next, ...chunks.map(({ id }) => id)) : lost(next, chunks.length));
        if (fate === "answered") next += chunks.length;
        if (fate !== "ended") continue;
        arrive(10); // before it starts, the next process waits until nothing can arrive
        take();
      }
      arrive(10);
      const answered = next;
      take();
      expect(next).toBeGreaterThanOrEqual(answered);
      expect(there.map(({ hash }) => hash)).toEqual(planned.slice(0, next));
    }),
    { numRuns: 500 },
  );
});
