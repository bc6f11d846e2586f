import fc from "fast-check";
import { expect, it } from "vitest";
import { gatherLengths } from "../../../src/report/facts/hits.js";
import type { Row } from "../../../src/rows/row.js";
import { tablesOf } from "../../compare/diff/dumps.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows } from "../../dump/formats/stage.js";
import { rounds } from "../../rounds.js";
import { chunk } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";
import { gathered } from "./gather.js";

const lengthsOf = async (chunks: readonly Row[]) => {
  const folder = await writeDump(await plainFolder(), chunks.length === 0 ? noRows : tablesOf(chunks));
  return gathered(folder, gatherLengths);
};

/** The figures of lengths and tokens, computed the plain way. */
function figures(rows: readonly { readonly length: number; readonly tokens: number | null }[]) {
  const lengths = rows.map(({ length }) => length).toSorted((a, b) => a - b);
  const sum = (numbers: readonly (number | null)[]) => numbers.reduce<number>((all, each) => all + (each ?? 0), 0);
  const at = (share: number) => {
    const place = share * (lengths.length - 1);
    const [below = 0, above = 0] = [lengths[Math.floor(place)], lengths[Math.ceil(place)]];
    return below + (above - below) * (place - Math.floor(place));
  };
  return {
    ...{ chunks: rows.length, characters: sum(lengths), tokens: sum(rows.map(({ tokens }) => tokens)) },
    ...{ shortest: at(0), quartile_1: at(0.25), median: at(0.5), quartile_3: at(0.75), longest: at(1) },
  };
}

const someChunks = fc.array(
  fc.record({
    document: fc.constantFrom("a", "b", "c"),
    count: fc.option(fc.nat(2000)),
    content: fc.option(fc.string({ unit: "grapheme-composite", maxLength: 12 })),
    tokens: fc.option(fc.nat(500)),
  }),
  { minLength: 1, maxLength: 40 },
);

it("lengths are those that a plain computation gives, of all chunks and of each document", async () => {
  await fc.assert(
    fc.asyncProperty(someChunks, async (given) => {
      const rows = given.map(({ document, count, content, tokens }, at) =>
        chunk(document, `${at}`, { word_count: count, content, tokens }),
      );
      const known = given.flatMap(({ document, count, content, tokens }) => {
        const length = count ?? (content === null ? null : [...content].length);
        return length === null ? [] : [{ document, length, tokens }];
      });
      const { all, documents } = await lengthsOf(rows);
      expect(all).toEqual(known.length === 0 ? undefined : figures(known));
      const expected = ["a", "b", "c"].flatMap((id) => {
        const own = known.filter(({ document }) => document === id);
        return own.length === 0 ? [] : [{ document_id: id, ...figures(own) }];
      });
      expect(documents.rows.map(({ dataset_id, dataset_name, document_name, ...rest }) => rest)).toEqual(
        expected.toSorted((a, b) => b.chunks - a.chunks),
      );
      expect(documents.total).toBe(expected.length);
    }),
    { numRuns: rounds(8, 200) },
  );
}, 120_000);

it("there are none where there is no chunk", async () => {
  expect(await lengthsOf([])).toEqual({ all: undefined, documents: { rows: [], total: 0, query: expect.any(String) } });
});
