import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdSet } from "../../src/crawl/id-set.js";
import { ListProof } from "../../src/crawl/read-list.js";
import { inFull } from "../rounds.js";
import { pageOf, rowsOf } from "./pages.js";

type Pages = readonly (readonly [ids: string, total: number])[];

/** Passes pages to the proof and returns the problems and rows. A page is a word, each letter of it an id. */
function prove(pages: Pages, read?: { ids: Iterable<string>; total: number }) {
  const problems: string[] = [];
  const proof = new ListProof(
    "chunks",
    (text) => void problems.push(text),
    read && { ...read, ids: new IdSet(read.ids) },
  );
  const rows = pages.map(([ids, total]) =>
    proof
      .add(pageOf(ids, total))
      .map(({ id }) => id)
      .join(""),
  );
  proof.finish();
  return { problems, rows, proof };
}

describe("a list is whole", () => {
  it.each<[string, Pages]>([
    ["that is empty", [["", 0]]],
    ["of one page", [["abc", 3]]],
    [
      "of several",
      [
        ["abc", 7],
        ["def", 7],
        ["g", 7],
      ],
    ],
  ])("%s", (_, pages) => {
    const { problems, rows, proof } = prove(pages);
    expect(problems).toEqual([]);
    expect(rows).toEqual(pages.map(([ids]) => ids));
    expect(Array.from({ length: proof.ids.size }, (_, place) => proof.ids.at(place)).join("")).toBe(
      pages.map(([ids]) => ids).join(""),
    );
    expect(proof.isWhole).toBe(true);
  });
});

describe("a problem is reported", () => {
  it.each<[string, Pages, string[]]>([
    ["rows are missing", [["ab", 3]], ["chunks: the service counts 3 and lists 2"]],
    ["rows are left over", [["abc", 2]], ["chunks: the service counts 2 and lists 3"]],
    ["nothing is listed", [["", 3]], ["chunks: the service counts 3 and lists 0"]],
    ["nothing is counted", [["ab", 0]], ["chunks: the service counts 0 and lists 2"]],
    [
      "an id comes twice on a page",
      [["aba", 3]],
      ["1 of 3 ids on a page of chunks came before", "chunks: the service counts 3 and lists 2"],
    ],
    [
      "a page comes twice",
      [
        ["abc", 6],
        ["abc", 6],
      ],
      ["3 of 3 ids on a page of chunks came before", "chunks: the service counts 6 and lists 3"],
    ],
    [
      "a row moved to the next page",
      [
        ["abc", 6],
        ["cef", 6],
      ],
      ["1 of 3 ids on a page of chunks came before", "chunks: the service counts 6 and lists 5"],
    ],
    [
      "the total shrinks, although as many ids came in the end",
      [
        ["abc", 6],
        ["ef", 5],
      ],
      ["total of chunks went from 6 to 5 between two pages"],
    ],
    [
      "the total moves and comes back",
      [
        ["ab", 6],
        ["cd", 7],
        ["ef", 6],
      ],
      ["total of chunks went from 6 to 7 between two pages", "total of chunks went from 7 to 6 between two pages"],
    ],
  ])("%s", (_, pages, expected) => expect(prove(pages).problems).toEqual(expected));

  it("no page came at all", () => {
    expect(prove([]).problems).toEqual(["chunks: the service counts no and lists 0"]);
  });

  it("still returns each id once, in the order of its first appearance", () => {
    const { rows } = prove([
      ["abb", 9],
      ["cab", 9],
      ["adc", 9],
    ]);
    expect(rows).toEqual(["ab", "c", "d"]);
  });

  it("and may end the reading", () => {
    const proof = new ListProof("chunks", (text) => {
      throw new RangeError(text);
    });
    proof.add(pageOf("ab", 4));
    expect(() => proof.add(pageOf("ab", 4))).toThrow(RangeError);
  });
});

it("is stuck after three pages in a row without anything new", () => {
  const proof = new ListProof("chunks", () => {});
  const stuck = ["abc", "abc", "ab", "cd", "a", "b", "c", "e", "e"].map((ids) => {
    proof.add(pageOf(ids, 99));
    return proof.isStuck;
  });
  expect(stuck).toEqual([false, false, false, false, false, false, true, false, false]);
});

describe("what an earlier process read", () => {
  it("counts, so that the whole list is proved and not the rest alone", () => {
    const earlier = { ids: ["a", "b"], total: 4 };
    expect(prove([["cd", 4]], earlier).problems).toEqual([]);
    expect(prove([["bc", 4]], earlier).problems[0]).toBe("1 of 2 ids on a page of chunks came before");
    expect(prove([["cd", 5]], earlier).problems[0]).toBe("total of chunks went from 4 to 5 between two pages");
    expect(prove([], earlier).problems).toEqual(["chunks: the service counts 4 and lists 2"]);
    expect(prove([], { ids: ["a"], total: 1 }).problems).toEqual([]);
  });
});

it.runIf(inFull)("no problem means: one total, and just as many ids, each once; whatever pages come", () => {
  const pages = fc.array(fc.tuple(fc.stringMatching(/^[a-f]{0,3}$/), fc.constantFrom(3, 4, 4, 4, 5)), { maxLength: 4 });
  fc.assert(
    fc.property(pages, (given) => {
      const { problems, rows } = prove(given);
      const ids = given.flatMap(([letters]) => rowsOf(letters).map(({ id }) => id));
      const totals = new Set<number>(given.map(([, total]) => total));
      const isWhole = totals.size === 1 && totals.has(ids.length) && new Set(ids).size === ids.length;
      expect(problems.length === 0).toBe(isWhole);
      expect(rows.join("")).toBe([...new Set(ids)].join(""));
    }),
    { numRuns: 2_000 },
  );
});
