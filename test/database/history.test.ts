import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { child, chunk, dataset, field, JobDatabase, madeOnce, read, reading, waitingFile } from "./job-database.js";

const chunksOf = (database: JobDatabase) => database.query("SELECT document_id, id, run_id FROM chunks ORDER BY rowid");
const childrenOf = (database: JobDatabase) =>
  database.query("SELECT document_id, id, run_id FROM child_chunks ORDER BY rowid");
const documentsOf = (database: JobDatabase) =>
  database.query("SELECT document_id, status, run_id FROM documents ORDER BY rowid");

/** A database of one run over two documents, a and b, of two chunks and a child each. */
const twoDocuments = madeOnce(async () => {
  const database = await JobDatabase.create();
  await database.run("r1", {
    chunks: [chunk("a", "a1"), chunk("a", "a2"), chunk("b", "b1"), chunk("b", "b2")],
    child_chunks: [child("a", "a1", "ac1"), child("b", "b1", "bc1")],
    documents: [read("a"), read("b")],
  });
  return database;
});

describe("a document", () => {
  it("that the next run does not read keeps its rows, and their run", async () => {
    const database = await twoDocuments();
    await database.run("r2", { chunks: [chunk("b", "b3")], documents: [read("b")] });
    expect(await chunksOf(database)).toEqual([
      ["a", "a1", "r1"],
      ["a", "a2", "r1"],
      ["b", "b3", "r2"],
    ]);
    expect(await childrenOf(database)).toEqual([["a", "ac1", "r1"]]);
    expect(await documentsOf(database)).toEqual([
      ["a", "complete", "r1"],
      ["b", "complete", "r2"],
    ]);
  });

  it("that fails keeps its last good rows, of chunks, children and documents", async () => {
    const database = await twoDocuments();
    await database.run("r2", {
      chunks: [chunk("a", "a3")],
      documents: [read("a"), read("b", "failed", { error: "gone" })],
    });
    expect(await chunksOf(database)).toEqual([
      ["b", "b1", "r1"],
      ["b", "b2", "r1"],
      ["a", "a3", "r2"],
    ]);
    expect(await childrenOf(database)).toEqual([["b", "bc1", "r1"]]);
    expect(await documentsOf(database)).toEqual([
      ["b", "complete", "r1"],
      ["a", "complete", "r2"],
    ]);
  });

  it("that fails before it was ever read has no rows", async () => {
    const database = await JobDatabase.create();
    await database.run("r1", { documents: [read("a", "failed", { error: "gone" })] });
    expect(await documentsOf(database)).toEqual([]);
  });

  it("that is unstable keeps the complete state that was there, and the attempt is written down", async () => {
    const database = await twoDocuments();
    const moved = { chunks: [chunk("a", "a9")], child_chunks: [child("a", "a9", "ac9")] };
    await database.run("r2", { ...moved, documents: [read("a", "unstable", { error: "moved" })] });
    expect(await chunksOf(database)).toEqual([
      ["a", "a1", "r1"],
      ["a", "a2", "r1"],
      ["b", "b1", "r1"],
      ["b", "b2", "r1"],
    ]);
    expect(await childrenOf(database)).toEqual([
      ["a", "ac1", "r1"],
      ["b", "bc1", "r1"],
    ]);
    expect(await documentsOf(database)).toEqual([
      ["a", "complete", "r1"],
      ["b", "complete", "r1"],
    ]);
    expect(await database.query("SELECT run_id, document_id, status, error FROM failed_reads")).toEqual([
      ["r2", "a", "unstable", "moved"],
    ]);
  });

  it("that is unstable is taken as long as no complete state is there, the newest of them", async () => {
    const database = await JobDatabase.create();
    const unstable = [read("a", "unstable", { error: "moved" })];
    await database.run("r1", { chunks: [chunk("a", "a1")], documents: unstable });
    await database.run("r2", { chunks: [chunk("a", "a2")], documents: unstable });
    expect(await chunksOf(database)).toEqual([["a", "a2", "r2"]]);
    expect(await documentsOf(database)).toEqual([["a", "unstable", "r2"]]);
    await database.run("r3", { chunks: [chunk("a", "a3")], documents: [read("a")] });
    expect(await documentsOf(database)).toEqual([["a", "complete", "r3"]]);
    expect(await database.query("SELECT run_id, document_id FROM failed_reads ORDER BY ALL")).toEqual([
      ["r1", "a"],
      ["r2", "a"],
    ]);
  });

  it("that is empty now has no rows any more", async () => {
    const database = await twoDocuments();
    await database.run("r2", { documents: [read("a", "complete", { total: 0 })] });
    expect(await chunksOf(database)).toEqual([
      ["b", "b1", "r1"],
      ["b", "b2", "r1"],
    ]);
    expect(await documentsOf(database)).toEqual([
      ["b", "complete", "r1"],
      ["a", "complete", "r2"],
    ]);
  });

  it("of another dataset with the same id is another document", async () => {
    const database = await twoDocuments();
    const other = { dataset_id: "other" };
    await database.run("r2", { chunks: [chunk("a", "a7", other)], documents: [read("a", "complete", other)] });
    expect(await database.query("SELECT dataset_id, count(*)::INTEGER FROM chunks GROUP BY ALL ORDER BY ALL")).toEqual([
      [dataset, 4],
      ["other", 1],
    ]);
  });
});

describe("metadata fields", () => {
  it("are replaced dataset by dataset", async () => {
    const database = await JobDatabase.create();
    await database.run("r1", {
      metadata_fields: [field("d1", 1, "source"), field("d1", 2, "uploader"), field("d2", 1, "source")],
    });
    await database.run("r2", { metadata_fields: [field("d1", 1, "origin")] });
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
    const database = await JobDatabase.create();
    await database.run("r1", {
      indexing_status: [reading("2025-03-06T13:20:00Z", "a"), reading("2025-03-06T13:20:01.500Z", "a")],
    });
    await database.run("r2", { indexing_status: [reading("2025-03-07T13:20:00Z", "a", { error: { code: 1 } })] });
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

  it("takes readings that waited in once, however often they are handed over", async () => {
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
    const database = await JobDatabase.create();
    const warnings = ['it\'s "odd"\n', "\ud800 lone", "\0", "漢字 😀", ""];
    await database.run(
      "r1",
      {},
      { run: { status: "partial", warnings, chunks: 5, base_url: "https://kb.example.com/v1?'" } },
    );
    await database.run("r2", {});
    const found = await database.query(
      "SELECT run_id, status, epoch_ms(started_at)::VARCHAR, epoch_ms(finished_at)::VARCHAR, base_url, chunks::INTEGER, warnings FROM runs ORDER BY run_id",
    );
    const times = ["1741267200000", "1741267201250"];
    expect(found).toEqual([
      ["r1", "partial", ...times, "https://kb.example.com/v1?'", 5, warnings.map((text) => text.toWellFormed())],
      ["r2", "complete", ...times, "https://kb.example.com/v1", 2, []],
    ]);
  });

  it("has a run once that was killed when its database was in place and is finished again", async () => {
    const database = await twoDocuments();
    const tables = {
      chunks: [chunk("a", "a3")],
      documents: [read("a")],
      indexing_status: [reading("2025-03-06T13:20:00Z", "a")],
    };
    await database.run("r2", tables);
    await database.run("r2", tables);
    expect(await database.query("SELECT run_id FROM runs ORDER BY rowid")).toEqual([["r1"], ["r2"]]);
    expect(await chunksOf(database)).toEqual([
      ["b", "b1", "r1"],
      ["b", "b2", "r1"],
      ["a", "a3", "r2"],
    ]);
    expect(await database.query("SELECT count(*)::INTEGER FROM indexing_status")).toEqual([[1]]);
  });
});

it("the file does not grow when the same rows are written again", async () => {
  const database = await JobDatabase.create();
  const content = (at: number) => createHash("sha512").update(String(at)).digest("hex"); // does not compress away
  const chunks = Array.from({ length: 10_000 }, (_each, at) => chunk("a", `c${at}`, { content: content(at) }));
  const tables = { chunks, documents: [read("a")], metadata_fields: [field(dataset, 1, "source")] };
  const sizes: number[] = [];
  for (let run = 1; run <= 4; run++) {
    await database.run(`r${run}`, tables);
    sizes.push((await stat(database.path)).size);
  }
  expect(await database.query("SELECT count(*)::INTEGER, min(run_id) FROM chunks")).toEqual([[10_000, "r4"]]);
  expect(sizes[0]).toBeGreaterThan(1_000_000);
  expect(sizes.at(-1)).toBeLessThan(1.7 * Math.min(...sizes)); // a few blocks more or less come of its two threads
});
