import fc from "fast-check";
import { expect, test } from "vitest";
import type { Row } from "../../../src/rows/row.js";
import { chunk } from "../../verify/sound-tables.js";
import { diffed, tablesOf, twoDumps } from "./dumps.js";

/** A chunk with one letter for its id and one for its text: there are so few that many are equal. */
const sketch = fc.record({
  id: fc.constantFrom(..."abcdefgh"),
  text: fc.constantFrom(..."tuvw"),
  answer: fc.constantFrom(null, "", "x"),
  person: fc.boolean(),
});
const side = fc.uniqueArray(sketch, { maxLength: 7, selector: ({ id }) => id });
const documents = fc.array(fc.record({ old: side, fresh: side }), { minLength: 1, maxLength: 20 });

type Sketch = typeof sketch extends fc.Arbitrary<infer Value> ? Value : never;

const rowsOf = (document: string, sketches: readonly Sketch[]): readonly Row[] =>
  sketches.map(({ id, text, answer, person }, at) =>
    chunk(document, id, { position: at + 1, content: text, answer, updated_by: person ? "ann" : null }),
  );

/**
 * Counts the lost chunks by definition: the id is gone, and no chunk with a new id has the same text. Each new chunk
 * counts for one old chunk.
 */
function countLost(old: readonly Sketch[], fresh: readonly Sketch[]): number {
  const without = (rows: readonly Sketch[], others: readonly Sketch[]) =>
    rows.filter(({ id }) => others.every((other) => other.id !== id)).map(({ text, answer }) => text + (answer ?? ""));
  const left = without(fresh, old);
  return without(old, fresh).filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  }).length;
}

test("a chunk is lost if its id is gone and no new chunk, paired one to one, has its content and answer", async () => {
  await fc.assert(
    fc.asyncProperty(documents, async (pairs) => {
      const both = pairs.filter(({ old, fresh }) => old.length > 0 && fresh.length > 0);
      const tables = (["old", "fresh"] as const).map((name) =>
        tablesOf(both.flatMap((pair, at) => rowsOf(`d${at}`, pair[name]))),
      );
      const [before = tablesOf([]), after = tablesOf([])] = tables;
      const { diff, changes } = await diffed(await twoDumps(before, after));
      const found = diff.documents.map(({ chunks }) => chunks.lost);
      expect(found).toEqual(both.map(({ old, fresh }) => countLost(old, fresh)));
      for (const { lost, manual_edit, document_id, old_id } of changes) {
        const row = both[Number(document_id.slice(1))]?.old.find(({ id }) => id === old_id);
        expect(manual_edit).toBe(lost && row?.person ? "edited" : null);
      }
    }),
    { numRuns: 8, endOnFailure: true },
  );
}, 120_000);
