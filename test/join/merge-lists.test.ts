import fc from "fast-check";
import { expect, test } from "vitest";
import type { DocumentList } from "../../src/crawl/document-list-file.js";
import { shardOf } from "../../src/crawl/shards.js";
import { mergeLists } from "../../src/join/merge-lists.js";
import { inFull } from "../rounds.js";

type Dataset = DocumentList["datasets"][number];

const dataset = (dataset_id: string, documents: readonly string[], more: Partial<Dataset> = {}): Dataset => ({
  dataset_id,
  name: null,
  state: "listed",
  documents,
  ...more,
});

const list = (datasets: readonly Dataset[], more: Partial<DocumentList> = {}): DocumentList => ({
  format: 1,
  datasets,
  all_datasets: null,
  failures: [],
  notes: [],
  ...more,
});

const remedy = "kbdump plan --documents-out and kbdump run --documents-from give all shards one list";

test("one list is used unchanged", () => {
  const only = list([dataset("a", ["x", "y"])], { notes: ["n"] });
  expect(mergeLists([{ list: only, shards: [1, 2] }], 2)).toEqual({
    list: only,
    differences: [],
    notes: [],
    unlisted: [],
  });
});

test("if lists differ, the first one sets the order, and the others add missing documents at the end of each dataset", () => {
  const merged = mergeLists(
    [
      { list: list([dataset("a", ["x", "y"]), dataset("b", ["z"])], { failures: ["f"] }), shards: [1, 3] },
      { list: list([dataset("b", ["w", "z"]), dataset("a", ["y", "v"])], { failures: ["f", "g"] }), shards: [2] },
    ],
    3,
  );
  expect(merged.list.datasets.map(({ dataset_id, documents, state }) => [dataset_id, documents, state])).toEqual([
    ["a", ["x", "y", "v"], "listed"],
    ["b", ["z", "w"], "listed"],
  ]);
  expect(merged.list.failures).toEqual(["f", "g"]);
  expect(merged.differences).toEqual([
    `the lists of documents of the shards differ, in dataset a, b; only some list document x, v, w: ${remedy}`,
  ]);
});

test("a dataset that shards found in other states, or not at all, is unsettled, and skipped ones come last", () => {
  const merged = mergeLists(
    [
      {
        list: list([dataset("s", [], { state: "skipped" }), dataset("a", ["x"])], { all_datasets: true }),
        shards: [1],
      },
      {
        list: list([dataset("a", ["x"], { state: "failed" }), dataset("n", [])], { all_datasets: false }),
        shards: [2],
      },
    ],
    2,
  );
  expect(merged.list).toMatchObject({ all_datasets: false });
  expect(merged.list.datasets.map(({ dataset_id, state }) => [dataset_id, state])).toEqual([
    ["s", "unsettled"],
    ["a", "unsettled"],
    ["n", "unsettled"],
  ]);
  expect(merged.differences).toEqual([`the lists of documents of the shards differ, in dataset s, a, n: ${remedy}`]);
});

test("another order or other names leave the documents known, and are only noted", () => {
  const merged = mergeLists(
    [
      { list: list([dataset("a", ["x", "y"])]), shards: [1] },
      { list: list([dataset("a", ["y", "x"], { name: "N" })]), shards: [2] },
    ],
    2,
  );
  expect(merged).toMatchObject({ differences: [], unlisted: [] });
  expect(merged.list.datasets).toEqual([dataset("a", ["x", "y"], { name: "N" })]);
  expect(merged.notes).toEqual([
    `the lists of documents of the shards differ in order or names, so those of shard 1 were taken; ${remedy}`,
  ]);
});

test("a sentence names twenty datasets and how many more there are", () => {
  const ids = Array.from({ length: 23 }, (_, at) => `d${at}`);
  const lists = [
    { list: list(ids.map((id) => dataset(id, ["x"]))), shards: [1] },
    { list: list(ids.map((id) => dataset(id, []))), shards: [2] },
  ];
  expect(mergeLists(lists, 2).differences[0]).toContain(`in dataset ${ids.slice(0, 20).join(", ")} and 3 more; `);
});

test.runIf(inFull)(
  "every document of any list occurs once, and those missing in their own shard's list count as unlisted",
  () => {
    const documents = fc.uniqueArray(fc.integer({ min: 0, max: 15 }).map(String), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(documents, { minLength: 1, maxLength: 5 }), (all) => {
        const count = all.length;
        const lists = all.map((ids, at) => ({ list: list([dataset("a", ids)]), shards: [at + 1] }));
        const merged = mergeLists(lists, count);
        const [{ documents: union } = dataset("a", [])] = merged.list.datasets;
        expect(union.toSorted()).toEqual([...new Set(all.flat())].sort());
        const wanted = union.filter((id) => !all[shardOf("a", id, count) - 1]?.includes(id));
        const found = merged.unlisted.map(({ document_id }) => document_id);
        expect(found.sort()).toEqual(wanted.sort());
        for (const { dataset_id, document_id: id, own, listedBy } of merged.unlisted) {
          expect([dataset_id, own]).toEqual(["a", shardOf("a", id, count)]);
          expect(listedBy).toEqual(all.flatMap((ids, at) => (ids.includes(id) ? [at + 1] : [])));
        }
      }),
    );
  },
);
