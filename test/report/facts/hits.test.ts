import fc from "fast-check";
import { expect, test } from "vitest";
import { gatherHits } from "../../../src/report/facts/hits.js";
import { positionsOfDocument } from "../../../src/report/report-facts.js";
import type { Row } from "../../../src/rows/row.js";
import { tablesOf } from "../../compare/diff/dumps.js";
import { JobDatabase } from "../../database/job-database.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { rounds } from "../../rounds.js";
import { chunk, info } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";
import { gathered } from "./gather.js";

const on = (document: string, id: string, hit_count: number | null, more: Row = {}) =>
  chunk(document, id, { enabled: true, hit_count, ...more });
const counts = (enabled: number, never: number) => ({ enabled, never });

test("chunks that are enabled and have a count of 0 were never hit, and the longest of them come first", async () => {
  const chunks = [
    on("a", "a1", 0, { word_count: 5, created_at: "2025-03-06T01:00:00Z" }),
    on("a", "a2", 3, { word_count: 6 }),
    on("a", "a3", null),
    on("a", "a4", 0, { enabled: false }),
    on("b", "b1", 0, { word_count: 9, position: null }),
    on("b", "b2", 0, { word_count: 5 }),
    on("c", "c1", 8),
    on("d", "d1", null),
  ];
  const tables = { ...tablesOf(chunks), document_info: [info("b", { name: "Guide", dataset_name: "Shop" })] };
  const folder = await writeDump(await plainFolder(), tables);
  const hits = await gathered(folder, gatherHits);
  expect(hits).toMatchObject({ enabled: 5, never: 3, hits: 11, has_history: false });
  const reported = hits.documents.rows.map(({ document_id, enabled, never, hits }) => [
    document_id,
    enabled,
    never,
    hits,
  ]);
  expect(reported).toEqual([
    ["b", 2, 2, 0],
    ["a", 2, 1, 3],
    ["c", 1, 0, 8],
  ]);
  expect([hits.documents.total, hits.chunks.total]).toEqual([3, 3]);
  const names = { dataset_id: "d", dataset_name: null, document_name: null };
  expect(hits.chunks.rows).toEqual([
    {
      ...names,
      document_id: "b",
      dataset_name: "Shop",
      document_name: "Guide",
      id: "b1",
      position: null,
      characters: 9,
      created_at: null,
      beginning: "text of b1",
    },
    {
      ...names,
      document_id: "a",
      id: "a1",
      position: 1,
      characters: 5,
      created_at: Date.UTC(2025, 2, 6, 1),
      beginning: "text of a1",
    },
    expect.objectContaining({ id: "b2" }),
  ]);
  const [longest] = (await gathered(folder, gatherHits, { content: false })).chunks.rows;
  expect(longest).toMatchObject({ id: "b1", dataset_name: null, document_name: null, beginning: null });
});

test("the parts of a document count its chunks by their place, disabled ones in between included", async () => {
  const rows = Array.from({ length: 40 }, (_, at) =>
    on("a", `a${at}`, at % 2, { position: 100 - at, enabled: at !== 39 && at !== 0 }),
  );
  const hits = await gathered(await writeDump(await plainFolder(), tablesOf(rows)), gatherHits);
  const [a] = hits.documents.rows;
  expect(a?.places[0]).toEqual(counts(1, 1)); // 39, which is disabled, and 38
  expect(a?.places[1]).toEqual(counts(2, 1));
  expect(a?.places[positionsOfDocument - 1]).toEqual(counts(1, 0)); // 1, and 0, which is disabled
});

const randomChunks = fc.array(
  fc.record({
    document_id: fc.constantFrom("a", "b"),
    position: fc.option(fc.nat({ max: 9 })),
    hit_count: fc.option(fc.nat({ max: 2 })),
    enabled: fc.option(fc.boolean()),
  }),
  { maxLength: 50 },
);

test("the parts of random documents are those that a plain count finds", async () => {
  await fc.assert(
    fc.asyncProperty(randomChunks, async (given) => {
      const rows = given.map((row, at) => ({ ...chunk(row.document_id, `c${at}`), ...row }));
      const hits = await gathered(await writeDump(await plainFolder(), tablesOf(rows)), gatherHits);
      const found = Object.fromEntries(hits.documents.rows.map(({ document_id, places }) => [document_id, places]));
      const expected = ["a", "b"].flatMap((id) => {
        const placed = placesOf(given.filter(({ document_id }) => document_id === id));
        return placed.some(({ enabled }) => enabled > 0) ? [[id, placed]] : [];
      });
      expect(found).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: rounds(8, 200) },
  );
});

type Given = typeof randomChunks extends fc.Arbitrary<infer Rows> ? Rows : never;

/** The counts of the parts of one document. */
function placesOf(chunks: Given) {
  const last = Number.POSITIVE_INFINITY;
  const sorted = chunks.toSorted((a, b) => (a.position ?? last) - (b.position ?? last) || 0);
  return Array.from({ length: positionsOfDocument }, (_, place) => {
    const here = sorted.filter((_, at) => Math.floor((at * positionsOfDocument) / sorted.length) === place);
    const known = here.filter(({ enabled, hit_count }) => enabled === true && hit_count !== null);
    return counts(known.length, known.filter(({ hit_count }) => hit_count === 0).length);
  });
}

const [first, second] = ["20250306T010000000Z", "20250306T020000000Z"];
const [third, fourth] = ["20250306T030000000Z", "20250306T040000000Z"];

test("a chunk that was hit before a re-index was hit; runs that follow change nothing", async () => {
  const database = await JobDatabase.create();
  const now = tablesOf([on("a", "n1", 0, { content: "one" }), on("a", "n2", 0, { content: "two" })]);
  await database.run(first, tablesOf([on("a", "a1", 3, { content: "one" }), on("a", "a2", 0, { content: "two" })]));
  await database.run(second, now);
  const folder = await writeDump(await plainFolder(), now, { manifest: { run_id: second } });
  const alone = await gathered(folder, gatherHits);
  expect([alone.never, alone.has_history]).toEqual([2, false]);

  const hits = await gathered(folder, gatherHits, { database: database.path });
  expect([hits.enabled, hits.never, hits.hits, hits.has_history]).toEqual([2, 1, 0, true]);
  expect(hits.chunks.rows.map(({ id }) => id)).toEqual(["n2"]);
  expect(hits.documents.rows.map(({ never }) => never)).toEqual([1]);

  await database.run(third, tablesOf([on("a", "m1", 4, { content: "one" }), on("a", "n2", 9, { content: "two" })]));
  await database.run(fourth, tablesOf([on("a", "n2", 0, { content: "two" })]));
  expect(await gathered(folder, gatherHits, { database: database.path })).toEqual(hits);
});

test("a dump without counts has no chunk that was never hit, and no document", async () => {
  const rows = [on("a", "a1", null), on("a", "a2", null)];
  const hits = await gathered(await writeDump(await plainFolder(), tablesOf(rows)), gatherHits);
  const nothing = { rows: [], total: 0, query: expect.any(String) };
  expect(hits).toEqual({ enabled: 0, never: 0, hits: 0, has_history: false, documents: nothing, chunks: nothing });
});
