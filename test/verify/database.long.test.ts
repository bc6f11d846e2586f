import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { StopError, UsageError } from "../../src/errors.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { testFolder } from "../run/job-for.js";
import { addChunks } from "../servers/edits.js";
import { type Dumped, dump, smallStore, useDump } from "./dumped.js";
import { change, editManifest, flipBit } from "./forge.js";

const output = { formats: ["jsonl", "duckdb"] };
const copyOfDump = useDump(output.formats);

/** Returns the findings after these statements on the database. */
async function findingsAfter({ run, database }: Dumped, ...statements: string[]): Promise<readonly string[]> {
  await change(database, ...statements);
  const { findings } = await verifyRun(run, { duckdb: true });
  return findings.map(({ file, message }) => `${file}: ${message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")}`);
}

test("an untouched database is sound, and one elsewhere, under another name and with a row at another place", async () => {
  const { run, database, folder } = await copyOfDump();
  const path = join(folder, "it's [a] copy.db");
  await copyFile(database, path);
  await change(path, "INSERT INTO chunks FROM chunks WHERE rowid = 2", "DELETE FROM chunks WHERE rowid = 2");
  for (const duckdb of [true, path]) {
    expect(await verifyRun(run, { duckdb })).toMatchObject({
      status: "sound",
      checked: { database: { path: duckdb === true ? database : path, documents: 2, read_later: 0 }, notes: [] },
    });
  }
});

test("finds missing rows, added rows and changed cells, and nothing else", async () => {
  const found = await findingsAfter(
    await copyOfDump(),
    "DELETE FROM chunks WHERE rowid = 2",
    "DELETE FROM child_chunks WHERE rowid = 2",
    "DELETE FROM metadata_fields WHERE position = 2",
    "DELETE FROM indexing_status WHERE rowid = 1",
    "INSERT INTO chunks FROM chunks WHERE rowid = 5",
    "INSERT INTO chunks SELECT * REPLACE ('new' AS id) FROM chunks WHERE rowid = 5",
    "UPDATE chunks SET content = content || ' ' WHERE rowid = 3",
    "UPDATE chunks SET keywords = list_append(keywords, 'x') WHERE rowid = 4",
    "UPDATE chunks SET run_id = '20200101T000000000Z' WHERE rowid = 6",
    "UPDATE child_chunks SET content = 'x' WHERE rowid = 3",
    "UPDATE documents SET sweeps = 7 WHERE rowid = 0",
    "UPDATE indexing_status SET total_segments = 0 WHERE rowid = 0",
    "UPDATE runs SET chunks = 16, status = 'complete'",
  );
  const reading = /^test.duckdb: document … of batch 2025 at \S+/;
  expect(found.map((text) => text.replace(reading, "test.duckdb: reading")).sort()).toEqual(
    [
      "test.duckdb: chunk … of document … is missing; it is row 3 of chunks.jsonl",
      "test.duckdb: child chunk … of chunk … of document … is missing; it is row 3 of child_chunks.jsonl",
      "test.duckdb: field 2 of dataset … is missing; it is row 2 of metadata_fields.jsonl",
      "test.duckdb: reading is missing; it is row 2 of indexing_status.jsonl",
      "test.duckdb: chunk … of document … occurs more often than in chunks.jsonl",
      "test.duckdb: chunk new of document … is not in chunks.jsonl",
      "test.duckdb: chunk … of document … differs in content from row 4 of chunks.jsonl",
      "test.duckdb: chunk … of document … differs in keywords from row 5 of chunks.jsonl",
      "test.duckdb: 1 row of chunks has another run_id than the document",
      "test.duckdb: child chunk … of chunk … of document … differs in content from row 4 of child_chunks.jsonl",
      "test.duckdb: document … of dataset … differs in sweeps from row 1 of manifest.json",
      "test.duckdb: reading differs in total_segments from row 1 of indexing_status.jsonl",
      "test.duckdb: runs.chunks is 16, the manifest says 17",
      "test.duckdb: runs.status is complete, the manifest says partial",
    ].sort(),
  );
});

const damages: readonly [what: string, statements: readonly string[], findings: readonly string[]][] = [
  [
    "a document is gone, and the run stands there twice",
    ["DELETE FROM documents WHERE chunk_count = 5", "INSERT INTO runs FROM runs"],
    ["test.duckdb: document … is missing", "test.duckdb: has 2 rows for run"],
  ],
  [
    "a document is there as an older run read it",
    ["UPDATE documents SET run_id = '20200101T000000000Z' WHERE chunk_count = 5"],
    ["test.duckdb: document … is from the older run 20200101T000000000Z"],
  ],
  [
    "a document stands there twice, and the run is gone",
    [
      "INSERT INTO documents SELECT * REPLACE ('20200101T000000000Z' AS run_id) FROM documents WHERE rowid = 0",
      "DELETE FROM runs",
    ],
    ["test.duckdb: document … ", "test.duckdb: has 0 rows for run"],
  ],
  ["a table is gone", ["DROP TABLE child_chunks"], ["test.duckdb: cannot be read: Catalog Error: "]],
  ["a column is gone", ["ALTER TABLE chunks DROP COLUMN answer"], ["test.duckdb: cannot be read: Binder Error: "]],
];

test.each(damages)("%s", async (_what, statements, findings) => {
  const found = await findingsAfter(await copyOfDump(), ...statements);
  for (const text of findings) expect(found).toContainEqual(expect.stringContaining(text));
});

test("the database is looked at only when that is asked for", async () => {
  const { run, database } = await copyOfDump();
  await change(database, "DELETE FROM chunks");
  expect(await verifyRun(run)).toMatchObject({ status: "sound", checked: { database: null } });
});

test("the apostrophes of csv_safe are no difference, and everything else is one", async () => {
  const { store, dataset, documents } = smallStore();
  const [one, other] = documents[0].chunks;
  if (one) one.content = `=1+1${" ".repeat(100)}`;
  if (other) other.content = `=2+2${" ".repeat(100)}`;
  const safe = { output: { formats: ["csv", "duckdb"], csv_safe: true } };
  const { folder, database = "" } = await dump(await testFolder(), { store, dataset, documents }, safe);
  await change(database, "UPDATE chunks SET content = content || ' ' WHERE content LIKE '=1+1%'");
  expect((await verifyRun(folder, { duckdb: true })).findings).toEqual([
    { file: "test.duckdb", message: expect.stringMatching(/^chunk .* differs in content from row 1 of chunks.csv$/) },
  ]);
});

describe("a database of several runs", () => {
  test("documents that a later run has read are skipped, and counted", async () => {
    const { base, run: first, database } = await copyOfDump();
    const { store, dataset, documents } = smallStore();
    for (const chunk of documents[0].chunks) chunk.content = `new ${chunk.content}`;
    const second = await dump(base, { store, dataset, documents }, { documents: [documents[0].id], output });
    expect(await verifyRun(first, { duckdb: true })).toMatchObject({
      status: "sound",
      checked: {
        database: { documents: 1, read_later: 1 },
        notes: ["1 document of the database come from a later run: their newer rows were not compared"],
      },
    });
    expect(await verifyRun(second.folder, { duckdb: true })).toMatchObject({
      status: "sound",
      checked: { database: { documents: 1, read_later: 0 }, notes: [] },
    });
    await change(
      database,
      `DELETE FROM chunks WHERE rowid = (SELECT min(rowid) FROM chunks WHERE document_id = '${documents[1].id}')`,
    );
    expect((await verifyRun(second.folder, { duckdb: true })).findings).toEqual([]);
    expect((await verifyRun(first, { duckdb: true })).finding_count).toBe(1);
  });
});

test("child chunks stay those of an earlier run if a later one did not request them", async () => {
  const { base, run: first, database } = await copyOfDump();
  const second = await dump(base, smallStore(), { childChunks: "none", output });
  expect(second.manifest.counts.child_chunks).toBe(0);
  for (const run of [first, second.folder]) expect((await verifyRun(run, { duckdb: true })).findings).toEqual([]);
  await change(database, `UPDATE child_chunks SET run_id = '${second.manifest.run_id}' WHERE rowid = 2`);
  expect((await verifyRun(second.folder, { duckdb: true })).finding_count).toBe(1);
});

test("an unstable document that did not replace a complete one is skipped, and counted", async () => {
  const { base } = await copyOfDump();
  const { store, dataset, documents } = smallStore();
  addChunks(documents[0], 120, { seed: 9 });
  const behaviour = { paging: "same-page" } as const; // the second page of the first document will be missing
  const { folder: run, manifest } = await dump(base, { store, dataset, documents }, { behaviour, output });
  expect(manifest.documents.map(({ status }) => status)).toEqual(["unstable", "complete"]);
  expect(await verifyRun(run, { duckdb: true })).toMatchObject({
    status: "sound",
    checked: {
      database: { documents: 1, read_later: 0, passed_over: 1 },
      notes: [
        expect.stringContaining("1 document unstable in this run: the database keeps the earlier complete state"),
      ],
    },
  });
});

describe("a dump with no other format than duckdb", () => {
  const copyOfDump = useDump(["duckdb"]);

  test("without the database: says that only the manifest was checked", async () => {
    const { run } = await copyOfDump();
    expect(await verifyRun(run)).toMatchObject({
      status: "sound",
      checked: {
        files: 0,
        chunks: 0,
        notes: [
          "this folder has no data files: only manifest.json was checked; --duckdb checks the rows in the database",
        ],
      },
    });
    await editManifest(run, (manifest) => {
      manifest.counts = { ...(manifest.counts as object), chunks: 16 };
    });
    expect((await verifyRun(run)).findings).toHaveLength(1);
  });

  const notes = ["this folder has no data files: ids, parents and counts were checked in the database"];

  test("with the database: nothing is found", async () => {
    const { run } = await copyOfDump();
    expect(await verifyRun(run, { duckdb: true })).toMatchObject({
      findings: [],
      checked: { chunks: 17, child_chunks: 15, documents: 2, notes },
    });
  });

  test("with the database: ids, parents, counts and documents are checked", async () => {
    const { run, database } = await copyOfDump();
    await change(
      database,
      "INSERT INTO chunks FROM chunks WHERE rowid = 13",
      "DELETE FROM chunks WHERE rowid IN (3, 12)",
      "UPDATE documents SET total = 3",
    );
    const { findings, checked } = await verifyRun(run, { duckdb: true });
    expect(checked.notes).toEqual(notes);
    for (const message of [
      /^chunk .* occurs 2 times, in row 12 and in row 16$/,
      /^child chunk .* has no parent in test.duckdb$/,
      /^document .* has 11 rows, its chunk_count is 12$/,
      /^document .* differs in total from row 1 of manifest.json$/,
    ])
      expect(findings).toContainEqual({ file: "test.duckdb", message: expect.stringMatching(message) });
  });
});

describe("a database that cannot be looked at", () => {
  test("is not there, or is a symlink beside the runs: wrong usage", async () => {
    const { run, database, folder } = await copyOfDump();
    await rename(database, join(folder, "other.duckdb"));
    await expect(verifyRun(run, { duckdb: true })).rejects.toThrow(UsageError);
    await expect(verifyRun(run, { duckdb: database })).rejects.toThrow("there is no such file");
    await symlink(join(folder, "other.duckdb"), database);
    await expect(verifyRun(run, { duckdb: true })).rejects.toThrow("it is not a regular file");
    expect(await verifyRun(run, { duckdb: database })).toMatchObject({ status: "sound" });
  });

  test("is damaged, or none at all: a finding", async () => {
    const { run, database } = await copyOfDump();
    await truncate(database, 20_000);
    expect((await verifyRun(run, { duckdb: true })).findings).toEqual([
      { file: "test.duckdb", message: expect.stringMatching(/^cannot be read: /) },
    ]);
    await writeFile(database, "no database, but a text that is long enough to be looked at ".repeat(100));
    expect((await verifyRun(run, { duckdb: true })).findings).toHaveLength(1);
  });

  test("one bit in its rows differs", async () => {
    const { run, database } = await copyOfDump();
    await flipBit(database);
    const { findings } = await verifyRun(run, { duckdb: true });
    expect(findings.length).toBeGreaterThan(0);
  });

  test("is open for writing elsewhere: says so", async () => {
    const { run, database } = await copyOfDump();
    const script = `const { DuckDBInstance } = await import("@duckdb/node-api");
      const instance = await DuckDBInstance.create(${JSON.stringify(database)}); console.log("open"); setInterval(() => instance, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    try {
      await expect(verifyRun(run, { duckdb: true })).rejects.toThrow(StopError);
    } finally {
      child.kill();
      await once(child, "close");
    }
    await rm(database);
  });
});
