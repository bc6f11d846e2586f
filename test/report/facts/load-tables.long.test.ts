import { appendFile, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../../../src/duckdb/read-rows.js";
import { emptyReadProgress } from "../../../src/read-progress.js";
import type { LoadOptions } from "../../../src/report/facts/load-tables.js";
import type { Row } from "../../../src/rows/row.js";
import { JobDatabase, madeOnce } from "../../database/job-database.js";
import { change } from "../../database/query.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import { child, chunk, details, document, info, rowOf, settings } from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";
import { withTables } from "./loaded.js";

const run_id = "20250306T132000000Z";
const reading = (captured_at: string, more: Row = {}) =>
  rowOf("indexing_status", { captured_at, dataset_id: "d", batch: "1", document_id: "a", ...more });

const tables: Tables = {
  ...noRows,
  chunks: [
    chunk("a", "2", { content: `=${"漢".repeat(400)}`, word_count: null, error: "e".repeat(400), hit_count: 3 }),
    chunk("a", "1", {
      ...{
        content: "word",
        word_count: 4,
        answer: "yes",
        tokens: 1,
        enabled: false,
        status: "n".repeat(400),
        error: null,
      },
      ...{ created_at: "2025-03-01T00:00:00Z", updated_at: "2025-02-01T00:00:00Z", disabled_by: "me" },
      disabled_at: "2025-03-04T05:06:07.250Z",
    }),
    chunk("b", "3", { content: null, position: null, created_at: null, updated_at: "2025-02-03T00:00:00Z" }),
  ],
  child_chunks: [child("a", "1", "k", { updated_at: "2025-02-05T00:00:00Z", content: "=child" })],
  documents: [document("a", 2, 1), document("b", 1, 0), document("c", 0, 0, { status: "failed", error: "secret" })],
  indexing_status: [reading("2025-03-06T13:20:00Z", { error: "why" })],
  document_info: [
    info("b", { dataset_name: "Books", name: "=B", indexing_status: "completed", display_status: "available" }),
  ],
  datasets: [settings("d", { name: "Shelf" })],
  document_details: [details("a", { name: "A".repeat(400) }), details("b", { name: "not this" })],
};

const dumpOf = async (given: Partial<Tables> = {}, options: WriteOptions = {}) =>
  writeDump(await plainFolder(), { ...tables, ...given }, options);

/** The rows of a statement about the tables that were loaded. */
const asked = async (folder: string, sql: string, options: Partial<LoadOptions> = {}) =>
  withTables(folder, (connection) => rowsOf(connection, sql), options);

describe.each<[name: string, WriteOptions]>([
  ["JSONL", { formats: ["jsonl"] }],
  ["Parquet", { formats: ["parquet"] }],
  ["CSV", { formats: ["csv"] }],
  ["CSV for spreadsheets", { formats: ["csv"], csvSafe: true }],
])("of a dump in %s", (_name, options) => {
  it("the tables have the chunks in their order, with the beginnings of their texts", async () => {
    const rows = await asked(
      await dumpOf({}, options),
      "SELECT * EXCLUDE (content_hash, answer_hash, dataset_id, tokens) FROM chunks ORDER BY row",
    );
    const nothing = { disabled_at: null, disabled_by: null, created_at: null, changed_at: null, status: null };
    expect(rows).toEqual([
      {
        ...{ ...nothing, row: "0", document_id: "a", id: "2", position: "1", characters: "401", hit_count: "3" },
        ...{ enabled: null, has_error: true, error: "e".repeat(300), beginning: `=${"漢".repeat(159)}` },
      },
      {
        ...{ row: "1", document_id: "a", id: "1", position: "1", characters: "4", hit_count: null, enabled: false },
        ...{ status: "n".repeat(300), has_error: false, error: null, beginning: "word", disabled_by: "me" },
        ...{ created_at: "2025-03-01 00:00:00", changed_at: "2025-03-01 00:00:00" },
        disabled_at: "2025-03-04 05:06:07.25",
      },
      {
        ...{ ...nothing, row: "2", document_id: "b", id: "3", position: null, characters: null, hit_count: null },
        ...{ enabled: null, has_error: false, error: null, beginning: null, changed_at: "2025-02-03 00:00:00" },
      },
    ]);
  });

  it("the other tables have what the dump has, with the first name that is known", async () => {
    const folder = await dumpOf({}, options);
    expect(await asked(folder, "FROM child_chunks")).toEqual([
      {
        ...{ row: "0", dataset_id: "d", document_id: "a", segment_id: "1", id: "k", position: "1" },
        ...{ changed_at: "2025-02-05 00:00:00", beginning: "=child" },
      },
    ]);
    const names = "SELECT nr, document_id, status, error, dataset_name, document_name FROM documents ORDER BY nr";
    expect((await asked(folder, names)).map((row) => Object.values(row))).toEqual([
      ["0", "a", "complete", null, "Shelf", "A".repeat(300)],
      ["1", "b", "complete", null, "Books", "=B"],
      ["2", "c", "failed", "secret", "Shelf", null],
    ]);
    expect(await asked(folder, "SELECT * EXCLUDE (dataset_id) FROM document_info")).toEqual([
      {
        ...{ document_id: "b", indexing_status: "completed", display_status: "available" },
        ...{ enabled: null, archived: false },
      },
    ]);
    expect(await asked(folder, "SELECT captured_at, error FROM indexing_status")).toEqual([
      { captured_at: "2025-03-06 13:20:00", error: "why" },
    ]);
  });

  it("a text has the hash of the same text, and of no other", async () => {
    const chunks = ["=same", "=same", "other", null].map((content, at) =>
      chunk("a", `${at}`, { content, answer: content }),
    );
    const folder = await dumpOf({ chunks, child_chunks: [], documents: [document("a", 4, 0)] }, options);
    const sql = "SELECT count(*) AS n FROM chunks GROUP BY content_hash, answer_hash ORDER BY content_hash IS NULL, n";
    expect(await asked(folder, sql)).toEqual([{ n: "1" }, { n: "2" }, { n: "1" }]);
  });
});

it("a dump without names, children, details or readings gives tables without them", async () => {
  const { document_info: _info, datasets: _datasets, document_details: _details, ...rest } = tables;
  const documents = [document("a", 2, 0), document("b", 1, 0)];
  const folder = await writeDump(await plainFolder(), { ...rest, child_chunks: [], indexing_status: [], documents });
  expect(await asked(folder, "SELECT DISTINCT dataset_name, document_name FROM documents")).toEqual([
    { dataset_name: null, document_name: null },
  ]);
  for (const table of ["child_chunks", "document_info", "indexing_status"])
    expect(await asked(folder, `FROM ${table}`)).toEqual([]);
});

it("without content, no table has a name, a text or an error", async () => {
  const folder = await dumpOf();
  const options = { content: false };
  const texts = {
    chunks: ["error", "beginning"],
    child_chunks: ["beginning"],
    documents: ["error", "dataset_name", "document_name"],
    indexing_status: ["error"],
  };
  for (const [table, names] of Object.entries(texts))
    for (const name of names)
      expect(await asked(folder, `SELECT count(${name}) AS known FROM ${table}`, options)).toEqual([{ known: "0" }]);
  expect(await asked(folder, "SELECT count(*) AS n FROM chunks WHERE has_error", options)).toEqual([{ n: "1" }]);
});

it("the tally ends where all bytes are read that were expected from the start", async () => {
  const progress = emptyReadProgress();
  const folder = await dumpOf();
  await asked(folder, "FROM chunks", { progress });
  const kinds = ["chunks", "child_chunks", "document_info", "document_details", "datasets", "indexing_status"];
  const sizes = await Promise.all(kinds.map(async (kind) => (await stat(join(folder, `${kind}.jsonl`))).size));
  const sum = sizes.reduce((all, size) => all + size, 0);
  expect(progress).toMatchObject({ expected: sum, done: sum });
});

it("a file that is not as its run wrote it is an error that names it", async () => {
  const folder = await dumpOf();
  await appendFile(join(folder, "chunks.jsonl"), "{}\n");
  await expect(asked(folder, "FROM chunks")).rejects.toThrow(/chunks\.jsonl: has \d+ bytes instead of \d+/);
});

/** A job of three runs, the second of which is that of the dump. */
const history = madeOnce(async () => {
  const made = await JobDatabase.create();
  const at = (hour: number) => `2025-03-06T${hour}:20:00Z`;
  const runs: readonly (readonly [string, number])[] = [
    ["20250306T122000000Z", 12],
    [run_id, 13],
    ["20250306T142000000Z", 14],
  ];
  for (const [id, hour] of runs) {
    const indexing_status = [reading(at(hour)), reading(at(hour), { document_id: "other" })];
    const times = { started_at: at(hour), finished_at: `2025-03-06T${hour}:20:01.250Z` };
    await made.run(id, { ...tables, indexing_status }, { run: times });
  }
  return made;
});

describe("the history", () => {
  it("is that of the database, which has the run; of its readings, those count that are not later", async () => {
    const { path } = await history();
    const folder = await dumpOf();
    const read = await withTables(
      folder,
      async (connection, _dump, { hasHistory, reason }) => {
        const readings = await rowsOf(connection, "SELECT captured_at, document_id FROM indexing_status ORDER BY 1");
        return { hasHistory, reason, readings, runs: (await rowsOf(connection, "FROM job.main.runs")).length };
      },
      { database: path },
    );
    expect(read).toEqual({
      ...{ hasHistory: true, reason: null, runs: 3 },
      readings: [
        { captured_at: "2025-03-06 12:20:00", document_id: "a" },
        { captured_at: "2025-03-06 13:20:00", document_id: "a" },
      ],
    });
  });

  it("is looked for beside the folder of runs", async () => {
    const { path } = await history();
    const base = await plainFolder();
    const folder = join(base, "test", "runs", run_id);
    await mkdir(join(base, "test", "runs"), { recursive: true });
    await rename(await dumpOf(), folder);
    const reasonOf = () => withTables(folder, async (_connection, _dump, { reason }) => reason);
    expect(await reasonOf()).toBe("There is no history, because there is no database of the job beside the run.");
    await rename(path, join(base, "test", "test.duckdb"));
    expect(await reasonOf()).toBeNull();
  });

  it.each<[name: string, damage: (path: string) => Promise<void>, reason: string]>([
    ["that is not there", (path) => rm(path), "there is no such file"],
    ["that is a text", (path) => writeFile(path, "notes".repeat(5_000)), "it is not a DuckDB database"],
    [
      "without a column",
      (path) => change("ALTER TABLE chunk_changes DROP lineage", path),
      "it was made by another version of kbdump",
    ],
    [
      "without the run",
      (path) => change(`DELETE FROM runs WHERE run_id = '${run_id}'`, path),
      "it does not have this run",
    ],
  ])("in a database %s is a sentence", async (_name, damage, reason) => {
    const { path } = await history();
    await damage(path);
    const loaded = await withTables(await dumpOf(), async (_connection, _dump, all) => all, { database: path });
    expect(loaded).toEqual({
      hasHistory: false,
      reason: `The history in the database of the job was not used: ${reason}.`,
    });
  });
});

describe("of a run that wrote DuckDB alone", () => {
  const alone: WriteOptions = {
    formats: [],
    options: { output: { formats: ["duckdb"], csv_safe: false, compress: "none", partition: "none" } },
  };

  it("the rows are those of the database if it is the newest run there", async () => {
    const made = await JobDatabase.create();
    await made.run("20250305T132000000Z", { chunks: [chunk("z", "old")], documents: [document("z", 1, 0)] });
    await made.run(run_id, tables);
    const options = { database: made.path };
    const folder = await dumpOf({}, alone);
    expect(await asked(folder, "SELECT id, characters FROM chunks ORDER BY id", options)).toEqual([
      { id: "1", characters: "4" },
      { id: "2", characters: "401" },
      { id: "3", characters: null },
    ]);
    expect(await asked(folder, "SELECT id FROM child_chunks", options)).toEqual([{ id: "k" }]);
    expect(await asked(folder, "SELECT document_name FROM documents WHERE nr = 1", options)).toEqual([
      { document_name: "=B" },
    ]);
    expect(await asked(folder, "SELECT error FROM indexing_status", options)).toEqual([{ error: "why" }]);
  });

  it("there is an error that says what to do if a later run is there, or no database", async () => {
    const folder = await dumpOf({}, alone);
    await expect(asked(folder, "FROM chunks", { database: (await history()).path })).rejects.toThrow(
      /its run wrote duckdb alone.* That has a newer run, 20250306T142000000Z, in its place: report on that one/,
    );
    await expect(asked(folder, "FROM chunks")).rejects.toThrow(/no database of the job beside the run/);
  });
});
