import { expect, test } from "vitest";
import { AnswerLog, median } from "../../src/plan/answer-log.js";
import { ChildCounts, pagesOf } from "../../src/plan/child-counts.js";
import { diskNeeds } from "../../src/plan/disk-space.js";
import { estimateTime } from "../../src/plan/estimate-time.js";
import { HasMoreCount, isMoreLeft } from "../../src/plan/has-more.js";
import { PageSize } from "../../src/plan/page-size.js";
import { RowSizes } from "../../src/plan/row-sizes.js";
import { placesIn } from "../../src/plan/sample-document.js";
import { positionsOf } from "../../src/plan/ties.js";

test("child lists: an empty one takes a request, a long one several, and only full pages and those are read again", () => {
  const counts = new ChildCounts();
  for (const children of [0, 1, 100, 101, 250, 250]) counts.add(children);
  expect({ known: counts.known, sum: counts.sum, childless: counts.childless }).toEqual({
    known: 6,
    sum: 702,
    childless: 1,
  });
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

test.each([
  [{ page: 1, limit: 1, rows: 1, total: 2 }, true],
  [{ page: 1, limit: 100, rows: 50, total: 130 }, true],
  [{ page: 1, limit: 1, rows: 80, total: 80 }, false],
  [{ page: 2, limit: 1, rows: 1, total: 2 }, false],
  [{ page: 2, limit: 100, rows: 30, total: 130 }, false],
  [{ page: 3, limit: 100, rows: 50, total: 180 }, undefined],
  [{ page: 9, limit: 1, rows: 0, total: 2 }, undefined],
  [{ page: 1, limit: 1, rows: 0, total: 0 }, false],
])("whether rows are left behind %o: %s", (page, left) => {
  expect(isMoreLeft({ ...page, said: true })).toBe(left);
  const count = new HasMoreCount();
  for (const said of [true, false, undefined, "true"]) count.add({ ...page, said });
  const { right, claimed, denied, absent } = count;
  expect([right, claimed, denied, absent]).toEqual(
    left === undefined ? [0, 0, 0, 0] : left ? [1, 0, 1, 2] : [1, 1, 0, 2],
  );
});

test("positions: collisions and gaps, whatever else stands there", () => {
  const rows = [1, 2, 2, 5, null, "6", 6, 3].map((position, at) => ({ id: String(at), position }));
  expect(positionsOf(rows)).toEqual({ rows: 6, collisions: 1, gaps: 1 });
  expect(positionsOf([])).toEqual({ rows: 0, collisions: 0, gaps: 0 });
});

test("further chunks of a sample are none of the first, none twice, and the last one", () => {
  expect([0, 1, 5, 6, 8, 101].map(placesIn)).toEqual([[], [], [], [6], [8], [29, 68, 101]]);
});

test("the median, and what a service says of its clock", () => {
  expect([median([]), median([3]), median([9, 1, 5]), median([4, 1])]).toEqual([undefined, 3, 5, 1]);
  const log = new AnswerLog(() => new Date("2025-03-06T12:00:00.500Z"));
  const request = {
    path: "/datasets/x/documents/y/segments",
    query: [
      ["page", "1"],
      ["limit", "100"],
    ] as const,
  };
  const body = Buffer.from('{"data":[{},{}],"total":2,"has_more":false}');
  const headers = { date: "Thu, 06 Mar 2025 12:00:10 GMT", "content-encoding": "gzip", "content-length": "33" };
  log.add(request, { url: "", status: 200, headers, body }, 40);
  log.add(request, { url: "", status: 500, headers: {}, body: Buffer.from("oops") }, 4_000);
  expect(log.clockAhead).toBeCloseTo(10.02, 5);
  expect(log.of("chunk_page")).toEqual({ latency: 40, answers: 1, rows: 2, bytes: 33 });
  expect([log.bytes, log.hasMore.right, [...log.encodings]]).toEqual([
    37,
    1,
    [
      ["gzip", 1],
      ["identity", 1],
    ],
  ]);
});

const latencies = { chunkPage: 100, childList: 50, other: 10 };
const work = { chunkPages: 80, childLists: 1_600, otherRequests: 3, rows: 10_000, formats: [] };

test("time is bound by what takes longest, and the formats come on top", () => {
  const alone = estimateTime(work, latencies, { concurrency: 8, maxRps: undefined });
  expect(alone).toEqual({ seconds: 11.2, boundBy: "latency" });
  expect(estimateTime(work, latencies, { concurrency: 1, maxRps: undefined }).seconds).toBe(88.2);
  expect(estimateTime(work, latencies, { concurrency: 8, maxRps: 50 })).toEqual({ seconds: 33.7, boundBy: "max_rps" });
  const fast = { chunkPage: 0.1, childList: 0.1, other: 0.1 };
  expect(estimateTime(work, fast, { concurrency: 64, maxRps: undefined }).boundBy).toBe("this machine");
  const written = estimateTime({ ...work, formats: ["jsonl", "duckdb"] }, latencies, {
    concurrency: 8,
    maxRps: undefined,
  });
  expect(written.seconds).toBeGreaterThan(alone.seconds);
  const nothing = { chunkPage: undefined, childList: undefined, other: undefined };
  expect(
    estimateTime({ ...work, chunkPages: 0, childLists: 0, rows: 0 }, nothing, { concurrency: 1, maxRps: undefined })
      .seconds,
  ).toBe(0);
});

const rows = (jsonl: number, csv: number) => ({ rows: 1, jsonl, csv });

test("disk: what is written once, twice while it is joined, and a database with a copy of the old one", () => {
  const written = { chunks: rows(900, 600), child_chunks: rows(100, 50), documents: 0 };
  const needs = (formats: ("jsonl" | "csv" | "parquet" | "duckdb")[], before = 0) =>
    diskNeeds(formats, written, before);
  expect(needs(["jsonl"])).toEqual({ needed: 2_000, run_folder: 1_000, database: 0 });
  expect(needs(["jsonl", "csv"])).toMatchObject({ needed: 2 * 1_650, run_folder: 1_650 });
  expect(needs(["csv"])).toMatchObject({ needed: 1_650 + 650 + 1_000, run_folder: 650 });
  const [fresh, later] = [needs(["duckdb"]), needs(["duckdb"], 50_000_000)];
  expect(fresh.run_folder).toBe(0);
  expect(later.needed - fresh.needed).toBe(50_000_000 - fresh.database + 50_000_000);
});

test("sizes are those of rows as they are written; a document of few rows leans on the others", () => {
  const all = new RowSizes(false);
  const [short, long] = [all.ofDocument(), all.ofDocument()];
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
  expect(alone.csv).toBeLessThan(alone.jsonl);
  long.add(
    "chunks",
    Array.from({ length: 500 }, (_, at) => chunk(String(at), 10_000)),
  );
  expect([long.rows("chunks"), all.rows("chunks")]).toEqual([300, 301]);
  expect(long.mean("chunks").jsonl).toBeGreaterThan(10_000);
  expect(short.mean("chunks").jsonl).toBeGreaterThan(alone.jsonl + 5_000);
  expect(all.ofDocument().mean("chunks")).toEqual({ ...all.mean("chunks"), rows: 0 });
});

test("a record that cannot be written is left out of the sizes", () => {
  const sizes = new RowSizes(false);
  let deep: unknown = null;
  for (let depth = 0; depth < 20_000; depth++) deep = [deep];
  sizes.add("chunks", [{ id: "a", attachments: deep }, { id: "b" }]);
  expect(sizes.rows("chunks")).toBe(1);
});
