import { describe, expect, test } from "vitest";
import { applyCopy } from "../../../src/restore/copy/apply-copy.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";
import { inFull } from "../../rounds.js";
import { datasetPlanOf, documentPlanOf, handbook } from "./made-copy.js";
import { memoryJournal } from "./memory-journal.js";
import { copyOfTwo, datasetPlan, outcomesOf, startCopyRun, two } from "./start-copy-of-run.js";

const make = "POST /datasets/*/document/create-by-text";
const add = "POST /datasets/*/documents/*/segments";
const drop = "DELETE /datasets/*/documents/*/segments/*";

test.runIf(inFull)(
  "creates the dataset, then each document: a stub, its chunks instead of the stub, and its state last",
  async () => {
    const place = await startCopyRun(two);
    const progress = emptyWriteProgress();
    const copied = await place.copy({ progress });
    expect(outcomesOf(copied)).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
    expect(place.sent()).toEqual([
      ...["POST /datasets", make, drop, add, make, drop, add],
      ...["PATCH /datasets/*/documents/status/disable", "PATCH /datasets/*/documents/status/archive"],
    ]);
    expect([copied.problems, copied.writes, place.sent().length]).toEqual([[], 9, 9]);
    expect(progress).toMatchObject({ documents: 2, documentsDone: 2, documentsFailed: 0, chunks: 3, writes: 9 });
  },
);

test("reports which document of the target is the copy of which", async () => {
  const place = await startCopyRun(two);
  const { documents } = await place.copy();
  for (const { target_dataset_id, target_id, document_name } of documents) {
    const standing = await place.api.document(target_dataset_id ?? "", target_id ?? "");
    expect(standing.name).toBe(document_name);
  }
});

test("a second process sends nothing and reports the same", async () => {
  const place = await startCopyRun(two);
  const first = await place.copy();
  const sent = place.sent().length;
  const progress = emptyWriteProgress();
  expect(await place.copy({ progress })).toEqual(first);
  expect(place.sent()).toHaveLength(sent);
  expect(progress).toMatchObject({ documents: 2, documentsDone: 2, chunks: 0, writes: 0 });
});

test("documents of one name are copied each", async () => {
  const name = { document_name: "one.txt" };
  const place = await startCopyRun([
    { ...name, document_id: "a", contents: ["of a"] },
    { ...name, document_id: "b", contents: ["of b"] },
  ]);
  expect(outcomesOf(await place.copy({ concurrency: 2 }))).toEqual(["one.txt: restored", "one.txt: restored"]);
  expect((await place.standing()).filter((line) => line.startsWith("    "))).toEqual(["    1 of a", "    1 of b"]);
});

test.runIf(inFull)(
  "several documents are written at once, one write at a time in each, and no two are made at once",
  async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const sketches = names.map((name) => ({ document_name: name, contents: ["x", "y"] }));
    const place = await startCopyRun(sketches, { delay: 5 });
    expect(outcomesOf(await place.copy({ concurrency: 3 }))).toEqual(names.map((name) => `${name}: restored`));
    expect(place.most.all).toBeLessThanOrEqual(3);
    expect(place.most.all).toBeGreaterThan(1);
    expect(place.most.document).toBe(1);
  },
);

test("a document that is left out of the plan is not made", async () => {
  const place = await startCopyRun([{ document_name: "one.txt", refused: "it is not complete" }, two[1] ?? {}]);
  expect(outcomesOf(await place.copy())).toEqual(["two.txt: restored"]);
});

describe("a copy that a user deleted", () => {
  test.runIf(inFull)("is created again if it was not complete yet", async () => {
    const place = await startCopyRun(two, {
      faultOf: (_, write) => (write === 3 ? { status: 400, message: "no" } : undefined),
    });
    const { documents } = await place.copy();
    const [{ target_dataset_id = "", target_id = "" } = {}] = documents;
    await place.byOthers("DELETE", `/datasets/${target_dataset_id}/documents/${target_id}`);
    expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect((await place.standing()).toSorted()).toEqual(copyOfTwo.toSorted());
  });
});

test.runIf(inFull)("a document that was switched off before it was whole is switched on for its rows", async () => {
  const place = await startCopyRun([{ contents: ["one", "two"], archived: true }], {
    faultOf: (_, write) => (write === 3 ? { status: 400, message: "no" } : undefined),
  });
  const { documents } = await place.copy();
  const [{ target_dataset_id = "", target_id = "" } = {}] = documents;
  for (const action of ["disable", "archive"]) {
    const path = `/datasets/${target_dataset_id}/documents/status/${action}`;
    await place.byOthers("PATCH", path, { document_ids: [target_id] });
  }
  expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored"]);
  expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed archived", "    1 one", "    2 two"]);
});

test("datasets come each with their documents", async () => {
  const place = await startCopyRun([]);
  const other = { dataset_id: "other set", target: { kind: "new", name: "Other" } } as const;
  const datasets = [datasetPlan([{ document_name: "a" }]), datasetPlan([{ document_name: "b" }], other)];
  expect(outcomesOf(await place.copy({}, { datasets }))).toEqual(["a: restored", "b: restored"]);
  expect((await place.standing()).toSorted()).toEqual([
    "  a completed",
    "  b completed",
    "dataset Copy",
    "dataset Other",
  ]);
});

test("a dataset may have more documents than a call has arguments", async () => {
  const earlier = { target_id: "t", state: "restored" } as const;
  const documents = Array.from({ length: 150_000 }, (_, at) => documentPlanOf(at, { earlier, document_id: `d${at}` }));
  const { journal } = memoryJournal();
  const target = { kind: "there", id: "there", name: "There" } as const;
  await journal.noteDataset(handbook, target);
  const signal = new AbortController().signal;
  const options = { journal, progress: emptyWriteProgress(), signal, concurrency: 4, log: () => {} };
  const plan = { datasets: [datasetPlanOf(documents, { target })] };
  const { copied } = await applyCopy(plan, options as unknown as Parameters<typeof applyCopy>[1]);
  expect(copied.documents).toHaveLength(documents.length);
});
