import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { expect, test } from "vitest";
import { runHere } from "../../cli/run-here.js";
import { tablesOf } from "../../compare/diff/dumps.js";
import { JobDatabase, madeOnce } from "../../database/job-database.js";
import { plainFolder } from "../../dump/formats/folder.js";
import type { Tables } from "../../dump/formats/stage.js";
import { inFull } from "../../rounds.js";
import { child, chunk, document, info, rowOf } from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";
import { printedRows } from "./printed-rows.js";
import { type Reported, reported } from "./reported.js";

const [first, second] = ["20250306T010000000Z", "20250306T020000000Z"];
const on = { enabled: true, hit_count: 0 };

/** Chunks of three documents. In a later run, `a` is re-indexed, `gone` is missing, and `failed` cannot be read. */
const before = tablesOf([
  chunk("a", "a1", { ...on, content: "it's hit", hit_count: 3 }),
  chunk("a", "a2", { ...on, content: "never hit" }),
  chunk("gone", "g1", on),
  chunk("failed", "f1", on),
]);
const rows = tablesOf(
  [
    chunk("a", "n1", { ...on, content: "it's hit" }),
    chunk("a", "n2", { ...on, content: "never hit" }),
    chunk("a", "n3", { ...on, enabled: false, disabled_by: "ann" }),
    chunk("a", "n4", { ...on, content: " " }),
    chunk("a", "n5", { ...on, content: " " }),
    chunk("b", "b1", { ...on, content: "never hit" }),
    chunk("b", "b2", { ...on, status: "error", hit_count: null }),
    chunk("b", "b3", { ...on, error: "no model", enabled: null }),
  ],
  [child("a", "n1", "k1"), child("a", "b1", "k2")],
  [document("failed", 0, 0, { status: "failed", total: 3, error: "HTTP 500" })],
);
const reading = { captured_at: "2025-03-06T13:20:01Z", dataset_id: "d", batch: "2025" };
const now: Tables = {
  ...rows,
  indexing_status: ["a", "b"].map((document_id) => rowOf("indexing_status", { ...reading, document_id })),
  document_info: [info("a"), info("b", { indexing_status: "paused" })],
};

const history = madeOnce(async () => {
  const database = await JobDatabase.create();
  await database.run(first, before);
  await database.run(second, now);
  return database;
});

/** Makes the second run of a job, and the job's database; returns the run folder. */
async function jobWithHistory(options: WriteOptions = {}, tables = now): Promise<string> {
  const base = await plainFolder();
  const runs = join(base, "test", "runs");
  await mkdir(runs, { recursive: true });
  await rename((await history()).path, join(base, "test", "test.duckdb"));
  const written = await writeDump(join(base, "made"), tables, { ...options, manifest: { run_id: second } });
  await rename(written, join(runs, second));
  return join(runs, second);
}

/** Runs the command of every table; returns the row count of each table and of its command. */
async function compared({ tables }: Reported, run: Parameters<typeof printedRows>[1]) {
  const turn = pLimit(2);
  const asked = tables.flatMap(({ caption, total, query }) => (query === null ? [] : [{ caption, total, query }]));
  const printed = asked.map(({ caption, query }) =>
    turn(async () => [caption, await printedRows(query, run)] as const),
  );
  return {
    totals: Object.fromEntries(asked.map(({ caption, total }) => [caption, total])),
    printed: Object.fromEntries(await Promise.all(printed)),
  };
}

const totals = {
  "Documents that are not complete": 1,
  Datasets: 1,
  "Freshness of documents": 4,
  "Lengths of chunks per document, in characters": 2,
  "Changes per run: chunks by kind, and child chunks": 2,
  "Retrieval per document, of its enabled chunks": 2,
  "Texts that occur in several chunks, with the first of them": 1,
  "Child chunks without a parent": 1,
  "Chunks with an error": 2,
  "Disabled chunks": 1,
};

test.runIf(inFull)("the command of every table prints as many rows as the table has", async () => {
  expect(await compared(await reported(await jobWithHistory()), (args) => runHere(args))).toEqual({
    totals,
    printed: totals,
  });
});

test.runIf(inFull)(
  "so do those of a run whose rows are in the database alone, and of a folder that lies elsewhere",
  async () => {
    const options = {
      formats: [],
      options: { output: { formats: ["duckdb"], csv_safe: false, compress: "none", partition: "none" } },
    };
    const ofDatabase = await reported(await jobWithHistory(options));
    expect(await compared(ofDatabase, (args) => runHere(args))).toEqual({ totals, printed: totals });

    const alone = await reported(await writeDump(await plainFolder(), now));
    const { "Changes per run: chunks by kind, and child chunks": _changes, ...others } = {
      ...totals,
      "Freshness of documents": 3,
      "Chunks that were never retrieved, the longest first": 5,
    };
    expect(await compared(alone, (args) => runHere(args))).toEqual({ totals: others, printed: others });
  },
);

test.runIf(inFull)("no command prints the chunks that were never hit if only the history has some hits", async () => {
  const { total, query } = (await reported(await jobWithHistory())).table("Chunks that were never");
  expect([total, query]).toEqual([4, null]);
});
