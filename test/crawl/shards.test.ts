import fc from "fast-check";
import { expect, test } from "vitest";
import type { Discovery } from "../../src/crawl/discovery.js";
import { datasetsOfShard, discoveryOfShard, shardOf } from "../../src/crawl/shards.js";
import { inFull } from "../rounds.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const document = "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0";

test.each([
  [dataset, document, [1, 2, 8, 1736]],
  [dataset, "", [1, 2, 2, 2834]],
  ["d", "ü", [1, 2, 16, 6656]],
])("shards of %s and %j never change: other machines and versions count on them", (datasetId, documentId, expected) => {
  expect([1, 2, 16, 10_000].map((count) => shardOf(datasetId, documentId, count))).toEqual(expected);
});

test("documents are spread evenly", () => {
  const sizes = new Map<number, number>();
  for (let number = 0; number < 16_000; number++) {
    const shard = shardOf(dataset, `document ${number}`, 16);
    sizes.set(shard, (sizes.get(shard) ?? 0) + 1);
  }
  expect([...sizes.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, at) => at + 1));
  for (const size of sizes.values()) expect(Math.abs(size - 1_000)).toBeLessThan(150);
});

/** Random discoveries: the service lists all documents, or the job names them all. */
const discoveries = fc
  .record({
    datasets: fc.uniqueArray(fc.record({ id: fc.uuid(), documents: fc.uniqueArray(fc.uuid(), { maxLength: 12 }) }), {
      selector: ({ id }) => id,
      maxLength: 5,
    }),
    isListed: fc.boolean(),
  })
  .map(
    ({ datasets, isListed }): Discovery => ({
      datasets: datasets.map((each) => ({ ...each, batches: [], status: [], keyword: undefined })),
      found: isListed
        ? {
            rows: datasets.flatMap(({ id, documents }) =>
              documents.map((document_id) => ({ dataset_id: id, document_id })),
            ),
            listings: datasets.map(({ id, documents }) => ({
              dataset_id: id,
              name: null,
              state: "listed",
              documents: documents.length,
            })),
            allDatasets: undefined,
            failures: [],
            notes: [],
            drift: { "document_info.name": 1 },
            pages: 1,
          }
        : undefined,
    }),
  );

test.runIf(inFull)(
  "every document, its row, every dataset and the drift of the lists are in exactly one shard, in their order",
  () => {
    fc.assert(
      fc.property(discoveries, fc.integer({ min: 1, max: 20 }), (whole, count) => {
        const indexes = Array.from({ length: count }, (_, at) => at + 1);
        const parts = indexes.map((index) => discoveryOfShard(whole, { index, count }));
        for (const [at, { id, documents }] of whole.datasets.entries()) {
          const found = parts.map((part) => part.datasets[at]?.documents ?? []);
          expect(found.flat().sort()).toEqual([...documents].sort());
          for (const own of found) expect(own).toEqual(documents.filter((one) => own.includes(one)));
          expect(found.map((own) => own.every((one) => shardOf(id, one, count) > 0))).not.toContain(false);
        }
        for (const { datasets, found } of parts) {
          const own = datasets.flatMap(({ id, documents }) =>
            documents.map((document_id) => ({ dataset_id: id, document_id })),
          );
          expect(found?.rows).toEqual(whole.found && own);
          expect(found?.listings).toEqual(whole.found?.listings);
        }
        expect(parts.filter(({ found }) => Object.keys(found?.drift ?? {}).length > 0)).toHaveLength(
          whole.found ? 1 : 0,
        );
        const owned = indexes.flatMap((index) => datasetsOfShard(whole.datasets, { index, count }));
        expect(owned.map(({ id }) => id).sort()).toEqual(whole.datasets.map(({ id }) => id).sort());
      }),
    );
  },
);
