import { expect, test } from "vitest";
import {
  compareDiscovery,
  type Discovery,
  discoveredIds,
  type EarlierListings,
  type Listing,
} from "../../../src/crawl/discovery.js";

type Datasets = Readonly<Record<string, readonly [state: Listing["state"], ...documents: string[]]>>;

function discovery(datasets: Datasets, allDatasets?: boolean): Discovery {
  const entries = Object.entries(datasets);
  return {
    datasets: entries.map(([id, [, ...documents]]) => ({ id, documents, batches: [], status: [], keyword: undefined })),
    found: {
      rows: [],
      listings: entries.map(([id, [state, ...documents]]) => ({
        dataset_id: id,
        name: null,
        state,
        documents: documents.length,
      })),
      allDatasets,
      failures: [],
      notes: [],
      drift: {},
      pages: 0,
    },
  };
}

/** Yields runs, newest first; `read` records the ones that were opened. */
function runs(...earlier: Datasets[]) {
  const read: string[] = [];
  async function* each(): AsyncGenerator<EarlierListings> {
    for (const [index, datasets] of earlier.entries()) {
      const runId = `run ${earlier.length - index}`;
      read.push(runId);
      yield {
        runId,
        datasets: new Map(
          Object.entries(datasets).map(([id, [state, ...documents]]) => [id, { state, documents }] as const),
        ),
      };
    }
  }
  return { read, each: each() };
}

async function compare(now: Datasets, allDatasets: boolean | undefined, ...earlier: Datasets[]) {
  const { read, each } = runs(...earlier);
  const discovered = await compareDiscovery(discovery(now, allDatasets), each);
  if (!discovered) throw new Error("nothing was found");
  const ids = discoveredIds(discovered);
  return { new: ids.new, vanished: ids.vanished, since: ids.datasets.map(({ since }) => since), read, all: ids };
}

test("if nothing was listed, there is nothing to compare", async () => {
  expect(await compareDiscovery({ datasets: [], found: undefined }, runs({}).each)).toBeUndefined();
});

test("the first run has nothing that is new", async () => {
  expect((await compare({ d: ["listed", "a"] }, undefined)).all).toEqual({
    since: null,
    new: [],
    vanished: [],
    datasets: [{ dataset_id: "d", name: null, state: "listed", documents: 1, since: null }],
  });
});

test.each([
  ["the same", ["listed", "a", "b"], [], []],
  ["another order", ["listed", "b", "a"], [], []],
  ["two new, one gone", ["listed", "c", "b", "d"], ["c", "d"], ["a"]],
  ["a list that moved tells of no document that is gone", ["unsettled", "c", "b"], ["c"], []],
  ["a list that failed tells nothing", ["failed"], [], []],
  ["a dataset that is skipped tells nothing", ["skipped"], [], []],
  ["emptied", ["listed"], [], ["a", "b"]],
] as const)("%s", async (_, now, added, vanished) => {
  const found = await compare({ d: [...now] }, undefined, { d: ["listed", "a", "b"] }, { d: ["listed", "x"] });
  expect(found).toMatchObject({ new: added, vanished, all: { since: "run 2" } });
  expect(found.read).toEqual(["run 2"]);
});

test("a run whose list was not whole is passed over for the one before it", async () => {
  const [failed, moved, whole]: Datasets[] = [
    { d: ["failed"] },
    { d: ["unsettled", "b"] },
    { d: ["listed", "a", "b"] },
  ];
  const found = await compare({ d: ["listed", "b", "c"] }, undefined, failed ?? {}, moved ?? {}, whole ?? {}, {});
  expect(found).toMatchObject({ new: ["c"], vanished: ["a"], since: ["run 2"], all: { since: "run 4" } });
  expect(found.read).toEqual(["run 4", "run 3", "run 2"]);
});

test("a dataset that the newest run did not know is new, with all of its documents", async () => {
  const found = await compare({ d: ["listed", "a"], e: ["listed", "x", "y"] }, true, { d: ["listed", "a"] });
  expect(found).toMatchObject({ new: ["x", "y"], vanished: [], since: ["run 1", "run 1"] });
});

test.each([
  [true, ["x"]],
  [false, []],
  [undefined, []],
])("a dataset that is gone takes its documents along if all datasets are known: %j", async (allDatasets, vanished) => {
  const found = await compare(
    { d: ["listed", "a"] },
    allDatasets,
    { d: ["listed", "a"], e: ["failed"] },
    { d: ["listed", "a"], e: ["listed", "x"] },
  );
  expect(found).toMatchObject({ new: [], vanished });
});

test("a dataset that is skipped now is not gone", async () => {
  const found = await compare({ d: ["skipped"], e: ["listed", "a"] }, true, { d: ["listed", "x"], e: ["listed", "a"] });
  expect(found).toMatchObject({ new: [], vanished: [], since: [null, "run 1"] });
});
