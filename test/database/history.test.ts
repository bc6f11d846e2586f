import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { inFull } from "../rounds.js";
import { child, chunk, dataset, field, JobDatabase, madeOnce, read, reading, waitingFile } from "./job-database.js";

const chunksOf = (database: JobDatabase) => database.query("SELECT document_id, id, run_id FROM chunks ORDER BY rowid");
const childrenOf = (database: JobDatabase) =>
  database.query("SELECT document_id, id, run_id FROM child_chunks ORDER BY rowid");
const documentsOf = (database: JobDatabase) =>
  database.query("SELECT document_id, status, run_id FROM documents ORDER BY rowid");

const other = { dataset_id: "other" };

/** The rows of some documents: two chunks and one child chunk each. */
const firstRows = (...ids: readonly string[]) => ({
  chunks: ids.flatMap((id) => [chunk(id, `${id}1`), chunk(id, `${id}2`)]),
  child_chunks: ids.map((id) => child(id, `${id}1`, `${id}c1`)),
  documents: ids.map((id) => read(id)),
});

const warnings = ['it\'s "odd"\n', "\ud800 lone", "\0", "漢字 😀", ""];
const oddRun = { status: "partial", warnings, chunks: 5, base_url: "https://kb.example.com/v1?'" } as const;
const unstable = (id: string) => read(id, "unstable", { error: "moved" });

/** A database of two runs. The first reads five documents completely; in the second, each has a different result. */
const twoRuns = madeOnce(async () => {
  const database = await JobDatabase.create();
  const good = firstRows("unread", "again", "fails", "moves", "empty");
  const first = {
    ...good,
    chunks: [...good.chunks, chunk("never", "never1")],
    documents: [...good.documents, unstable("never"), read("gone", "failed", { error: "gone" })],
    metadata_fields: [field("d1", 1, "source"), field("d1", 2, "uploader"), field("d2", 1, "source")],
    indexing_status: [reading("2025-03-06T13:20:00Z", "a"), reading("2025-03-06T13:20:01.500Z", "a")],
  };
  await database.run("r1", first, { run: oddRun });
  await database.run("r2", {
    chunks: [
      chunk("again", "again3"),
      chunk("moves", "moves9"),
      chunk("never", "never2"),
      chunk("unread", "unread7", other),
    ],
    child_chunks: [child("moves", "moves9", "movesc9")],
    documents: [
      read("again"),
      read("fails", "failed", { error: "gone" }),
      unstable("moves"),
      unstable("never"),
      read("empty", "complete", { total: 0 }),
      read("unread", "complete", other),
    ],
    metadata_fields: [field("d1", 1, "origin")],
    indexing_status: [reading("2025-03-07T13:20:00Z", "a", { error: { code: 1 } })],
  });
  return database;
});

describe("a document", () => {
  /** Returns the state of a document after the second run: the ids of its chunks and children, and its read status. */
  const stateOf = async (id: string, ofDataset = dataset) => {
    const database = await twoRuns();
    const where = `WHERE document_id = '${id}' AND dataset_id = '${ofDataset}' ORDER BY rowid`;
    const [chunks, children, documents] = [
      await database.query(`SELECT id, run_id FROM chunks ${where}`),
      await database.query(`SELECT id, run_id FROM child_chunks ${where}`),
      await database.query(`SELECT status, run_id FROM documents ${where}`),
    ];
    return { chunks, children, documents };
  };
  const firstState = (id: string) => ({
    chunks: [
      [`${id}1`, "r1"],
      [`${id}2`, "r1"],
    ],
    children: [[`${id}c1`, "r1"]],
    documents: [["complete", "r1"]],
  });

  it("that the next run does not read keeps its rows, and their run", async () => {
    expect(await stateOf("unread")).toEqual(firstState("unread"));
  });

  it("that is read again has only the new rows", async () => {
    expect(await stateOf("again")).toEqual({
      chunks: [["again3", "r2"]],
      children: [],
      documents: [["complete", "r2"]],
    });
  });

  it("that fails keeps its last good rows, of chunks, children and documents", async () => {
    expect(await stateOf("fails")).toEqual(firstState("fails"));
  });

  it("that is unstable keeps the complete state that was there, and the attempt is written down", async () => {
    expect(await stateOf("moves")).toEqual(firstState("moves"));
    const database = await twoRuns();
    expect(await database.query("SELECT run_id, document_id, status, error FROM failed_reads ORDER BY ALL")).toEqual([
      ["r1", "gone", "failed", "gone"],
      ["r1", "never", "unstable", "moved"],
      ["r2", "fails", "failed", "gone"],
      ["r2", "moves", "unstable", "moved"],
      ["r2", "never", "unstable", "moved"],
    ]);
  });

  it("that is empty now has no rows any more", async () => {
    expect(await stateOf("empty")).toEqual({ chunks: [], children: [], documents: [["complete", "r2"]] });
  });

  it("of another dataset with the same id is another document", async () => {
    expect(await stateOf("unread", "other")).toEqual({
      chunks: [["unread7", "r2"]],
      children: [],
      documents: [["complete", "r2"]],
    });
  });

  it("that keeps its rows comes before those that the run read", async () => {
    const database = await twoRuns();
    expect((await chunksOf(database)).map(([, id]) => id)).toEqual([
      ...["unread1", "unread2", "fails1", "fails2", "moves1", "moves2"],
      ...["again3", "never2", "unread7"],
    ]);
    expect((await childrenOf(database)).map(([, id]) => id)).toEqual(["unreadc1", "failsc1", "movesc1"]);
    expect(await documentsOf(database)).toEqual([
      ["unread", "complete", "r1"],
      ["fails", "complete", "r1"],
      ["moves", "complete", "r1"],
      ["again", "complete", "r2"],
      ["never", "unstable", "r2"],
      ["empty", "complete", "r2"],
      ["unread", "complete", "r2"],
    ]);
  });

  it("that fails before it was ever read has no rows", async () => {
    expect(await stateOf("gone")).toEqual({ chunks: [], children: [], documents: [] });
  });

  it("that is unstable is accepted until there is a complete state; the newest one counts", async () => {
    expect(await stateOf("never")).toEqual({
      chunks: [["never2", "r2"]],
      children: [],
      documents: [["unstable", "r2"]],
    });
    const database = await twoRuns();
    await database.run("r3", { chunks: [chunk("never", "never3")], documents: [read("never")] });
    expect((await documentsOf(database)).filter(([id]) => id === "never")).toEqual([["never", "complete", "r3"]]);
    expect((await chunksOf(database)).filter(([id]) => id === "never")).toEqual([["never", "never3", "r3"]]);
    expect(await database.query("SELECT run_id FROM failed_reads WHERE document_id = 'never' ORDER BY ALL")).toEqual([
      ["r1"],
      ["r2"],
    ]);
  });
});

describe("metadata fields", () => {
  it("are replaced dataset by dataset", async () => {
    const database = await twoRuns();
    const found = await database.query(
      "SELECT dataset_id, position::INTEGER, name, run_id FROM metadata_fields ORDER BY ALL",
    );
    expect(found).toEqual([
      ["d1", 1, "origin", "r2"],
      ["d2", 1, "source", "r1"],
    ]);
  });
});

describe("history", () => {
  it("of the status grows with every run", async () => {
    const database = await twoRuns();
    expect(
      await database.query(
        "SELECT epoch_ms(captured_at)::VARCHAR, document_id, error FROM indexing_status ORDER BY rowid",
      ),
    ).toEqual([
      ["1741267200000", "a", null],
      ["1741267201500", "a", null],
      ["1741353600000", "a", '{"code":1}'],
    ]);
  });

  it.runIf(inFull)("adds waiting readings once, even if they are passed in repeatedly", async () => {
    const database = await JobDatabase.create();
    const waiting = [
      await waitingFile([
        reading("2025-03-06T13:20:00.123Z", "a"),
        reading("2025-03-06T13:20:00.123Z", "b", { batch: null }),
      ]),
      await waitingFile([
        reading("2025-03-06T13:20:00.124Z", "a"),
        reading("2025-03-06T13:20:00.123Z", "a", { batch: "c" }),
      ]),
    ];
    await database.run("r1", {}, { waiting });
    await database.run("r2", {}, { waiting: [...waiting, ...waiting] });
    await database.run("r3", {});
    expect(await database.query("SELECT document_id, batch FROM indexing_status ORDER BY rowid")).toEqual([
      ["a", "b"],
      ["b", null],
      ["a", "b"],
      ["a", "c"],
    ]);
  });

  it("has a row per run, whatever its warnings hold", async () => {
    const database = await twoRuns();
    const found = await database.query(
      "SELECT run_id, status, epoch_ms(started_at)::VARCHAR, epoch_ms(finished_at)::VARCHAR, base_url, chunks::INTEGER, warnings FROM runs ORDER BY run_id",
    );
    const times = ["1741267200000", "1741267201250"];
    expect(found).toEqual([
      ["r1", "partial", ...times, "https://kb.example.com/v1?'", 5, warnings.map((text) => text.toWellFormed())],
      ["r2", "complete", ...times, "https://kb.example.com/v1", 2, []],
    ]);
  });

  it.runIf(inFull)("has a run once that was killed when its database was in place and is finished again", async () => {
    const database = await twoRuns();
    const tables = {
      chunks: [chunk("again", "again4")],
      documents: [read("again")],
      indexing_status: [reading("2025-03-08T13:20:00Z", "a")],
    };
    await database.run("r3", tables);
    const before = [await chunksOf(database), await childrenOf(database), await documentsOf(database)];
    await database.run("r3", tables);
    expect([await chunksOf(database), await childrenOf(database), await documentsOf(database)]).toEqual(before);
    expect(await database.query("SELECT run_id FROM runs ORDER BY rowid")).toEqual([["r1"], ["r2"], ["r3"]]);
    expect((await chunksOf(database)).filter(([id]) => id === "again")).toEqual([["again", "again4", "r3"]]);
    expect(await database.query("SELECT count(*)::INTEGER FROM indexing_status")).toEqual([[4]]);
  });
});

it.runIf(inFull)("the file does not grow when the same rows are written again", async () => {
  const database = await JobDatabase.create();
  const hash = (at: number) => createHash("sha512").update(String(at)).digest("hex"); // does not compress
  const content = (at: number) => [1, 2, 3, 4, 5].map((each) => hash(5 * at + each)).join("");
  const chunks = Array.from({ length: 2000 }, (_each, at) => chunk("a", `c${at}`, { content: content(at) }));
  const tables = { chunks, documents: [read("a")], metadata_fields: [field(dataset, 1, "source")] };
  const sizes: number[] = [];
  for (let run = 1; run <= 4; run++) {
    await database.run(`r${run}`, tables);
    sizes.push((await stat(database.path)).size);
  }
  expect(await database.query("SELECT count(*)::INTEGER, min(run_id) FROM chunks")).toEqual([[2000, "r4"]]);
  expect(sizes[0]).toBeGreaterThan(1_000_000);
  expect(sizes.at(-1)).toBeLessThan(1.7 * Math.min(...sizes)); // the size varies by a few blocks from run to run
});
