import { expect, it } from "vitest";
import { inFull } from "../rounds.js";
import { child, chunk, dataset, JobDatabase, madeOnce, read, reading } from "./job-database.js";

const views = [
  "changes_per_run",
  "coverage",
  "document_statistics",
  "duplicates",
  "edits",
  "hits",
  "lost_texts",
  "never_hit",
  "orphans",
  "status_timeline",
];

const text = (document: string, id: string, position: number, content: string, more: object = {}) =>
  chunk(document, id, {
    ...{ position, content, word_count: content.length, tokens: content.length, hit_count: 0 },
    ...{ enabled: true, status: "completed", ...more },
  });
const startedAt = (day: number) => ({ run: { finished_at: `2025-03-0${day}T13:20:00.000Z` } });

it("every view and macro has a description, and works in an empty database", async () => {
  const database = await JobDatabase.create();
  await database.run("r1", {});
  await database.run("r2", {});
  const found = await database.query(`
    SELECT view_name, comment FROM duckdb_views() WHERE NOT internal
    UNION ALL SELECT function_name, comment FROM duckdb_functions() WHERE NOT internal ORDER BY ALL`);
  expect(found.map(([name]) => name)).toEqual([...views, "child_chunks_at", "chunks_at"].sort());
  for (const [name, comment] of found) expect(comment, String(name)).toMatch(/^\S.{10,}\S$/);
  for (const view of views.filter((name) => name !== "changes_per_run"))
    expect(await database.query(`FROM ${view}`), view).toEqual([]);
  expect(await database.query("SELECT run_id, added, children_added FROM changes_per_run ORDER BY ALL")).toEqual([
    ["r1", null, null],
    ["r2", "0", "0"],
  ]);
});

it("every column of every view has a description", async () => {
  const database = await JobDatabase.create();
  await database.run("r1", {});
  await database.run("r2", {}); // every run recreates the views
  const found = await database.query(
    "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal AND table_name NOT IN (SELECT table_name FROM duckdb_tables())",
  );
  expect(new Set(found.map(([view]) => view))).toEqual(new Set(views));
  for (const [view, column, comment] of found) expect(comment, `${view}.${column}`).toMatch(/^\S.{5,}\S$/);
});

const at = (time: string) => `2025-03-06T${time}Z`;
const begun = { processing_started_at: at("10:00:00"), parsing_completed_at: at("10:00:05") };
const split = { ...begun, cleaning_completed_at: at("10:00:15"), splitting_completed_at: at("10:01:00") };
const indexing = (completed_segments: number) => ({
  ...split,
  indexing_status: "indexing",
  completed_segments,
  total_segments: 9,
});

/**
 * A database of one run: documents with sizes to measure, documents with duplicates or orphans, and the indexing status
 * of three more.
 */
const oneRun = madeOnce(async () => {
  const database = await JobDatabase.create();
  const measured = [
    text("a", "1", 1, "x".repeat(10), { hit_count: 4 }),
    text("a", "2", 2, "x".repeat(20), { enabled: false }),
    text("a", "3", 3, "x".repeat(30), { status: "error", error: "no quota" }),
    text("a", "4", 4, "x".repeat(80), { updated_by: "someone" }),
  ];
  const doubled = [
    text("c", "5", 1, "same", { answer: "x" }),
    text("c", "6", 2, "same", { answer: "y" }),
    text("c", "7", 3, "twice"),
    text("d", "8", 1, "twice"),
    text("d", "9", 2, "twice"),
  ];
  await database.run("r1", {
    chunks: [...measured, ...doubled],
    child_chunks: [
      child("a", "1", "k"),
      child("c", "5", "k"),
      child("c", "8", "of another document"),
      child("d", "99", "of none"),
    ],
    documents: ["a", "b", "c", "d"].map((id) => read(id)),
    document_info: [{ dataset_id: dataset, document_id: "a", name: "a.md" }],
    indexing_status: [
      reading(at("10:02:00"), "a", indexing(1)),
      reading(at("10:03:00"), "a", { ...indexing(9), indexing_status: "completed", completed_at: at("10:02:30") }),
      reading(at("10:02:00"), "b", indexing(1)),
      reading(at("10:03:00"), "b", indexing(2)),
      reading(at("11:03:00"), "b", indexing(2)),
      reading(at("10:02:00"), "c", { ...begun, indexing_status: "error", error: "no model", batch: null }),
    ],
  });
  return database;
});

it.runIf(inFull)("document_statistics measures every document", async () => {
  const database = await oneRun();
  const found =
    await database.query(`SELECT document_id, document_name, chunks::INTEGER, child_chunks::INTEGER, characters::INTEGER,
    shortest::INTEGER, quartile_1, median, quartile_3, longest::INTEGER, hits::INTEGER, share_without_hits, disabled::INTEGER, errors::INTEGER,
    edited::INTEGER FROM document_statistics WHERE document_id IN ('a', 'b') ORDER BY ALL`);
  const nothing = Array.from({ length: 11 }, () => null);
  expect(found).toEqual([
    ["a", "a.md", 4, 1, 140, 10, 17.5, 25, 42.5, 80, 4, 0.75, 1, 1, 1],
    ["b", null, 0, 0, ...nothing],
  ]);
});

const states = (names: string, hits: readonly number[], ...contents: string[]) =>
  contents.map((content, at) => text("a", `${names}${at}`, at + 1, content, { hit_count: hits[at] }));

/** A database of three runs: the chunks of one document change; others are read completely or not. */
const threeRuns = madeOnce(async () => {
  const database = await JobDatabase.create();
  const first = [
    ...[read("a"), read("good"), read("fails"), read("gone")],
    ...[read("never", "failed", { error: "e1" }), read("moves", "unstable")],
  ];
  const second = [...[read("a"), read("good"), read("fails", "failed", { error: "e2" }), read("never", "failed")]];
  const third = [
    ...[read("a"), read("good"), read("fails", "failed", { error: "e3" })],
    ...[read("never", "failed", { error: { code: 4 } }), read("moves", "unstable")],
  ];
  await database.run("r1", { chunks: states("x", [0, 5, 0], "one", "two", "three"), documents: first }, startedAt(1));
  await database.run("r2", { chunks: states("x", [3, 5, 0], "one", "zwei", "three"), documents: second }, startedAt(2));
  await database.run("r3", { chunks: states("y", [0, 2, 0], "one", "zwei", "three"), documents: third }, startedAt(3));
  return database;
});

/** Adds a fourth run that reads the document with the chunks and two others. */
const fourRuns = madeOnce(async () => {
  const database = await threeRuns();
  await database.run("r4", {
    chunks: states("y", [4, 2, 0, 0], "one", "deux", "three", "four"),
    documents: [read("a"), read("fails"), read("moves")],
  });
  return database;
});

it.runIf(inFull)("coverage shows which documents are fresh, and why others are not", async () => {
  const database = await threeRuns();
  const found = await database.query(
    "SELECT document_id, state, good_run, (good_at AT TIME ZONE 'UTC')::VARCHAR, age > INTERVAL 1 YEAR, failures::INTEGER, failed_run, failed_as, reason FROM coverage WHERE document_id <> 'a' ORDER BY ALL",
  );
  expect(found).toEqual([
    ["fails", "stale", "r1", "2025-03-01 13:20:00", true, 2, "r3", "failed", "e3"],
    ["gone", "not in the last run", "r1", "2025-03-01 13:20:00", true, 0, null, null, null],
    ["good", "fresh", "r3", "2025-03-03 13:20:00", true, 0, null, null, null],
    ["moves", "unstable", null, null, null, 2, "r3", "unstable", null],
    ["never", "never read", null, null, null, 3, "r3", "failed", '{"code":4}'],
  ]);
  const later = await fourRuns();
  expect(
    await later.query(
      "SELECT document_id, state, failures::INTEGER FROM coverage WHERE document_id <> 'a' ORDER BY ALL",
    ),
  ).toEqual([
    ["fails", "fresh", 0],
    ["gone", "not in the last run", 0],
    ["good", "not in the last run", 0],
    ["moves", "fresh", 0],
    ["never", "not in the last run", 3],
  ]);
});

it("status_timeline measures the stages, and how long a document stands still", async () => {
  const database = await oneRun();
  const found =
    await database.query(`SELECT document_id, indexing_status, parsing::VARCHAR, cleaning::VARCHAR, splitting::VARCHAR,
    indexing::VARCHAR, took::VARCHAR, age > INTERVAL 1 YEAR, unmoved::VARCHAR, error FROM status_timeline ORDER BY ALL`);
  expect(found).toEqual([
    ["a", "completed", "00:00:05", "00:00:10", "00:00:45", "00:01:30", "00:02:30", null, null, null],
    ["b", "indexing", "00:00:05", "00:00:10", "00:00:45", null, null, true, "01:00:00", null],
    ["c", "error", "00:00:05", null, null, null, null, true, "00:00:00", "no model"],
  ]);
});

it("duplicates and orphans are found, over documents and in one", async () => {
  const database = await oneRun();
  expect(
    await database.query(
      "SELECT copies::INTEGER, documents::INTEGER, answers::INTEGER, tokens::INTEGER, content, ids FROM duplicates ORDER BY ALL",
    ),
  ).toEqual([
    [2, 1, 2, 4, "same", ["5", "6"]],
    [3, 2, 1, 10, "twice", ["7", "8", "9"]],
  ]);
  expect(await database.query("SELECT id FROM orphans ORDER BY ALL")).toEqual([["of another document"], ["of none"]]);
});

it.runIf(inFull)("changes, edits and hits are reported run by run, over re-indexes", async () => {
  const database = await fourRuns();
  const columns = "run_id, added::INTEGER, removed::INTEGER, changed::INTEGER, reindexed::INTEGER, only_hits::INTEGER";
  expect(await database.query(`SELECT ${columns} FROM changes_per_run ORDER BY ALL`)).toEqual([
    ["r1", null, null, null, null, null],
    ["r2", 0, 0, 1, 0, 1],
    ["r3", 0, 0, 0, 3, 0],
    ["r4", 1, 0, 1, 0, 1],
  ]);
  expect(await database.query("SELECT run_id, id, before, after FROM edits ORDER BY ALL")).toEqual([
    ["r2", "x1", "two", "zwei"],
    ["r4", "y1", "zwei", "deux"],
  ]);
  expect(
    await database.query(
      "SELECT run_id, id, before::INTEGER, after::INTEGER, gained::INTEGER, reset FROM hits ORDER BY ALL",
    ),
  ).toEqual([
    ["r2", "x0", 0, 3, 3, false],
    ["r3", "y0", 3, 0, 0, true],
    ["r3", "y1", 5, 2, 2, true],
    ["r4", "y0", 0, 4, 4, false],
  ]);
  expect(await database.query("SELECT id FROM never_hit ORDER BY ALL")).toEqual([["y2"], ["y3"]]);
  await database.run("r5", { chunks: states("z", [0, 0, 0], "one", "deux", "three"), documents: [read("a")] });
  expect(await database.query("SELECT id FROM never_hit ORDER BY ALL")).toEqual([["z2"]]);
});

it.each([
  ["status_timeline", ["a", "b", "c"]],
  ["orphans", ["c", "d"]],
  ["never_hit", ["a", "c", "d"]],
])("%s names the documents that were listed", async (view, documents) => {
  const database = await oneRun();
  const sql = `SELECT DISTINCT document_id, document_name FROM ${view} ORDER BY ALL`;
  expect(await database.query(sql)).toEqual(documents.map((id) => [id, id === "a" ? "a.md" : null]));
});

it.runIf(inFull)(
  "a view with document_id has document_name, from the details if no run listed the document",
  async () => {
    const database = await oneRun();
    const found =
      await database.query(`SELECT table_name FROM duckdb_columns() c JOIN duckdb_views() v ON view_name = table_name
    WHERE NOT v.internal AND column_name IN ('document_id', 'document_name') GROUP BY ALL HAVING count(*) = 1`);
    expect(found).toEqual([]);
    await database.run("r2", { document_details: [{ dataset_id: dataset, document_id: "c", name: "c.md" }] });
    const names = "SELECT document_id, document_name FROM document_statistics ORDER BY ALL";
    expect(await database.query(names)).toEqual([
      ["a", "a.md"],
      ["b", null],
      ["c", "c.md"],
      ["d", null],
    ]);
    const same = "SELECT document_names FROM duplicates WHERE content = 'twice'";
    expect(await database.query(same)).toEqual([[["c.md"]]]);
  },
);
