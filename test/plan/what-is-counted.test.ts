import { expect, test } from "vitest";
import type { Job } from "../../src/job/job.js";
import { placesIn } from "../../src/plan/count-children.js";
import { ChildCounts, pagesOf, RowSizes } from "../../src/plan/document-survey.js";
import { AnswerLog, collisionsIn, PageSize } from "../../src/plan/inquiry.js";
import { diskNeeds } from "../../src/plan/plan-job.js";

test("child lists: an empty one takes a request, a long one several, and only full pages and those are read again", () => {
  const counts = new ChildCounts();
  for (const children of [0, 1, 100, 101, 250, 250]) counts.add(children);
  expect({ known: counts.known, sum: counts.sum }).toEqual({ known: 6, sum: 702 });
  expect(counts.requests(100)).toBe(1 + 1 + 1 + 2 + 3 + 3);
  expect(counts.requestsOfLong(100)).toBe(1 + 2 + 3 + 3); // a full page may hide a row behind it
  expect(counts.requests(Number.POSITIVE_INFINITY)).toBe(6);
  expect([0, 1, 100, 101].map((rows) => pagesOf(rows, 100))).toEqual([1, 1, 1, 2]);
});

test("a page size is certain when a page was full, when nothing longer was seen, and when paging is ignored", () => {
  const size = new PageSize();
  expect([size.rows, size.isCertainFor(1), size.isCertainFor(2)]).toEqual([100, true, false]);
  size.add({ limit: 1, rows: 1, total: 80 });
  expect(size.isCertainFor(80)).toBe(false);
  size.add({ limit: 100, rows: 40, total: 40 });
  expect([size.isCertainFor(40), size.isCertainFor(41)]).toEqual([true, false]);
  size.add({ limit: 100, rows: 50, total: 80 });
  expect([size.rows, size.cap, size.isCertainFor(1_000)]).toEqual([50, 50, true]);
  const whole = new PageSize();
  whole.add({ limit: 1, rows: 80, total: 80 });
  expect([whole.rows, whole.isPaged, whole.isCertainFor(1_000)]).toEqual([Number.POSITIVE_INFINITY, false, true]);
});

test("positions that collide, whatever else stands there", () => {
  const rows = [1, 2, 2, 5, null, "6", 6, 3].map((position, at) => ({ id: String(at), position }));
  expect(collisionsIn(rows)).toBe(1);
  expect(collisionsIn([])).toBe(0);
});

test("further chunks of a sample are none of the first, none twice, and the last one", () => {
  expect([0, 1, 5, 6, 8, 101].map(placesIn)).toEqual([[], [], [], [6], [8], [29, 68, 101]]);
});

test("latencies are the median and the 95th percentile of the answers of one kind; refusals do not count", () => {
  const log = new AnswerLog();
  const request = (limit: string) => ({
    path: "/datasets/x/documents/y/segments",
    query: [
      ["page", "1"],
      ["limit", limit],
    ] as const,
  });
  const answer = (status: number, headers = {}) => ({ url: "", status, headers, body: Buffer.from("body") });
  expect(log.of("chunk_page").latency).toEqual({ median_seconds: null, p95_seconds: null, answers: 0 });
  for (let milliseconds = 100; milliseconds >= 1; milliseconds--) log.add(request("100"), answer(200), milliseconds);
  log.add(request("100"), answer(500), 4_000);
  log.add(request("1"), answer(200, { "content-encoding": "gzip", "content-length": "33" }), 7.06);
  expect(log.of("chunk_page").latency).toEqual({ median_seconds: 0.05, p95_seconds: 0.095, answers: 100 });
  expect(log.of("chunk").latency).toEqual({ median_seconds: 0.0071, p95_seconds: 0.0071, answers: 1 });
  expect([log.bytes, log.of("chunk").bytes, [...log.encodings]]).toEqual([101 * 4 + 33, 33, ["gzip"]]);
});

test("disk: what is written once, twice while it is joined, and a database with a copy of the old one", () => {
  const needs = (formats: Job["output"]["formats"], before = 0, compress: Job["output"]["compress"] = "none") =>
    diskNeeds({ formats, compress }, 1_000, before);
  expect(needs(["jsonl"])).toEqual({ needed_bytes: 2_000, run_folder_bytes: 1_000, database_bytes: 0 });
  expect(needs(["jsonl", "csv"])).toMatchObject({ needed_bytes: 2 * 1_800, run_folder_bytes: 1_800 });
  expect(needs(["csv"])).toMatchObject({ needed_bytes: 1_800 + 800 + 1_000, run_folder_bytes: 800 });
  const [fresh, later] = [needs(["duckdb"]), needs(["duckdb"], 50_000_000)];
  expect(fresh.run_folder_bytes).toBe(0);
  const compressed = needs(["jsonl", "csv", "parquet"], 0, "gzip"); // the parts are not, nor is Parquet a second time
  expect(compressed).toMatchObject({ needed_bytes: 1_800 + 900 + 400, run_folder_bytes: 900 + 400 });
  expect(needs(["csv"], 0, "gzip")).toMatchObject({ needed_bytes: 1_800 + 400 + 1_000, run_folder_bytes: 400 });
  expect(later.needed_bytes - fresh.needed_bytes).toBe(50_000_000 - fresh.database_bytes + 50_000_000);
});

test("sizes are those of rows as they are written; a document of few rows leans on the others", () => {
  const all = new RowSizes(false);
  const [short, long] = [all.ofDocument("text_model"), all.ofDocument("text_model")];
  const chunk = (id: string, length: number) => ({
    id,
    content: "x".repeat(length),
    child_chunks: [{ id: "k", content: "y".repeat(9_000) }],
  });
  short.add("chunks", [chunk("a", 0)]);
  const alone = short.mean("chunks");
  expect(alone).toEqual(all.mean("chunks"));
  expect(alone.jsonl).toBeGreaterThan(400);
  expect(alone.jsonl).toBeLessThan(1_500);
  expect(alone.json).toBeGreaterThan(9_000); // as it came, embedded children included
  long.add(
    "chunks",
    Array.from({ length: 500 }, (_, at) => chunk(String(at), 10_000)),
  );
  expect([long.measured("chunks"), long.seen("chunks"), all.measured("chunks")]).toEqual([300, 500, 301]);
  expect(long.mean("chunks").jsonl).toBeGreaterThan(10_000);
  expect(short.mean("chunks").jsonl).toBeGreaterThan(alone.jsonl + 5_000);
  expect(all.ofDocument("text_model").mean("chunks")).toEqual(all.mean("chunks"));
});

test("a record that cannot be written is left out of the sizes", () => {
  const sizes = new RowSizes(false);
  let deep: unknown = null;
  for (let depth = 0; depth < 20_000; depth++) deep = [deep];
  sizes.add("chunks", [{ id: "a", attachments: deep }, { id: "b" }]);
  expect(sizes.measured("chunks")).toBe(1);
});
