import { expect, test } from "vitest";
import { batchFlag, mergeFlags, overridingFlags, sourceFlags } from "../../src/job/merge-flags.js";

test("names the flags that are given, and only these; false and 0 are given", () => {
  expect(overridingFlags({ baseUrl: "u", csvSafe: false, concurrency: 0, out: undefined })).toEqual([
    { flag: "--csv-safe", path: ["output", "csv_safe"], value: false },
    { flag: "--concurrency", path: ["service", "concurrency"], value: 0 },
  ]);
  expect(sourceFlags({ out: "x", document: [] })).toEqual([
    { flag: "--document", path: ["datasets", 0, "documents"], value: [] },
  ]);
  expect(batchFlag({ batch: [] })).toEqual([{ flag: "--batch", path: ["datasets", 0, "batches"], value: [] }]);
  expect(batchFlag({ out: "x" })).toEqual([]);
});

test.each([
  ["8", 8],
  ["0.5", 0.5],
  ["", ""],
  ["-1", "-1"],
  ["1e3", "1e3"],
  ["eight", "eight"],
])("the text %j for a number is %j", (text, value) => {
  expect(overridingFlags({ maxRps: text })).toEqual([{ flag: "--max-rps", path: ["service", "max_rps"], value }]);
});

test("formats may be joined by commas", () => {
  expect(overridingFlags({ format: ["jsonl,csv", "duckdb"] })[0]?.value).toEqual(["jsonl", "csv", "duckdb"]);
});

test.each([
  [{}, { output: { dir: "x" } }],
  [{ output: null }, { output: { dir: "x" } }],
  [
    { name: "n", output: { dir: "y", memory: "1GB" } },
    { name: "n", output: { dir: "x", memory: "1GB" } },
  ],
  [{ output: "wrong" }, { output: "wrong" }],
  [[], []],
  ["wrong", "wrong"],
])("--out put over %j is %j", (document, merged) => {
  const before = structuredClone(document);
  expect(mergeFlags(document, overridingFlags({ out: "x" }))).toEqual(merged);
  expect(document).toEqual(before);
});

test.each([
  [{ datasets: [{ id: "d" }] }, { datasets: [{ id: "d", batches: ["b"] }] }],
  [{ datasets: [{ id: "d", batches: ["a", "c"] }] }, { datasets: [{ id: "d", batches: ["b"] }] }],
  [{ datasets: ["wrong"] }, { datasets: ["wrong"] }],
  [{ datasets: [] }, { datasets: [] }],
])("--batch put over %j is %j", (document, merged) => {
  const before = structuredClone(document);
  expect(mergeFlags(document, batchFlag({ batch: ["b"] }))).toEqual(merged);
  expect(document).toEqual(before);
});
