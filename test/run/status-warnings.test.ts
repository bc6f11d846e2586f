import { expect, test } from "vitest";
import { statusWarnings } from "../../src/run/read-everything.js";

const row = (total: number) => ({
  dataset_id: "d",
  document_id: "x",
  doc_form: "text_model",
  status: "complete" as const,
  total,
  chunk_count: total,
  child_chunk_count: 0,
  sweeps: 1,
  error: null,
});
const proof = "counts" as const;
const reading = (status: string | null) => ({
  rows: [{ document_id: "x", indexing_status: status }],
  failures: [],
  drift: {},
});
const none = { rows: [], failures: [], drift: {} };

test.each([
  ["completed", "completed", 3, []],
  ["completed", "completed", 0, ["document x: its indexing is completed, and it has no chunks"]],
  ["error", "error", 0, []],
  ["indexing", "indexing", 3, ["document x: it is being indexed (indexing), so its chunks are not final"]],
  ["paused", "paused", 3, ["document x: its indexing is paused, so its chunks are not final"]],
  [null, null, 3, ["document x: it is being indexed (unknown), so its chunks are not final"]],
  ["indexing", "completed", 3, ["document x: its indexing status went from indexing to completed during the run"]],
])("from %s to %s with %i chunks", (before, after, total, warnings) => {
  const facts = {
    before: reading(before),
    after: reading(after),
    documents: [{ row: row(total), drift: {}, childLists: null, proof, edited: false }],
  };
  expect(statusWarnings(facts, () => false)).toEqual(warnings);
});

test("documents in no batch cause no warning, and neither does an empty one with a filter on chunks", () => {
  const documents = [{ row: row(0), drift: {}, childLists: null, proof, edited: false }];
  expect(statusWarnings({ before: none, after: none, documents }, () => false)).toEqual([]);
  expect(statusWarnings({ before: reading("completed"), after: none, documents }, () => true)).toEqual([]);
});

test.each([
  ["completed", 3, []],
  ["completed", 0, ["document x: its indexing is completed, and it has no chunks"]],
  ["error", 0, []],
  ["waiting", 3, ["document x: it is being indexed (waiting), so its chunks are not final"]],
  [null, 3, []],
])("listed as %j with %i chunks", (status, total, warnings) => {
  const listed = [{ document_id: "x", indexing_status: status }];
  const documents = [{ row: row(total), drift: {}, childLists: null, proof, edited: false }];
  expect(statusWarnings({ before: none, after: none, documents, listed }, () => false)).toEqual(warnings);
});

test("the batch of a document knows better than the list", () => {
  const listed = [{ document_id: "x", indexing_status: "indexing" }];
  const documents = [{ row: row(3), drift: {}, childLists: null, proof, edited: false }];
  const facts = { before: reading("completed"), after: reading("completed"), documents, listed };
  expect(statusWarnings(facts, () => false)).toEqual([]);
});
