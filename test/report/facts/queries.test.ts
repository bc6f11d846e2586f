import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { expect, test } from "vitest";
import type { Connection } from "../../../src/duckdb/open-duckdb.js";
import type { Manifest } from "../../../src/dump/manifest.js";
import { gatherChanges } from "../../../src/report/facts/changes.js";
import type { FactSource } from "../../../src/report/facts/fact-source.js";
import { gatherFlaws } from "../../../src/report/facts/flaws.js";
import { gatherFreshness } from "../../../src/report/facts/freshness.js";
import { gatherHits, gatherLengths } from "../../../src/report/facts/hits.js";
import { gatherIndexing } from "../../../src/report/facts/indexing.js";
import { gatherVerdict } from "../../../src/report/facts/verdict.js";
import { runHere } from "../../cli/run-here.js";
import { runKbdump } from "../../cli/run-kbdump.js";
import { tablesOf } from "../../compare/diff/dumps.js";
import { JobDatabase, madeOnce } from "../../database/job-database.js";
import { plainFolder } from "../../dump/formats/folder.js";
import type { Tables } from "../../dump/formats/stage.js";
import { inFull } from "../../rounds.js";
import { child, chunk, document, info, rowOf } from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";
import { gathered } from "./gather.js";
import { askedIn, printedRows } from "./printed-rows.js";

const [first, second, third] = ["20250306T010000000Z", "20250306T020000000Z", "20250306T030000000Z"];
const on = { enabled: true, hit_count: 0 };

/** Chunks of three documents; a later run finds `a` indexed anew, `gone` no more, and cannot read `failed`. */
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

/** The second run of a job in its folder, with the database of the job. */
async function jobWithHistory(options: WriteOptions = {}, tables = now): Promise<string> {
  const base = await plainFolder();
  const runs = join(base, "test", "runs");
  await mkdir(runs, { recursive: true });
  await rename((await history()).path, join(base, "test", "test.duckdb"));
  const written = await writeDump(join(base, "made"), tables, { ...options, manifest: { run_id: second } });
  await rename(written, join(runs, second));
  return join(runs, second);
}

const gatherAll = async (connection: Connection, source: FactSource, manifest: Manifest) => ({
  verdict: await gatherVerdict(connection, source, manifest),
  freshness: await gatherFreshness(connection, source, manifest),
  lengths: await gatherLengths(connection, source),
  indexing: await gatherIndexing(connection, source, manifest),
  changes: await gatherChanges(connection, source),
  hits: await gatherHits(connection, source),
  flaws: await gatherFlaws(connection, source),
});

/** Runs every command of the facts; gives the rows that each table has, and those that its command printed. */
async function compared(facts: object, run: Parameters<typeof printedRows>[1]) {
  const [asked, turn] = [askedIn(facts), pLimit(2)];
  const printed = asked.map(({ name, query }) => turn(async () => [name, await printedRows(query, run)] as const));
  return {
    totals: Object.fromEntries(asked.map(({ name, total }) => [name, total])),
    printed: Object.fromEntries(await Promise.all(printed)),
  };
}

const totals = {
  "verdict.incomplete": 1,
  "verdict.datasets": 1,
  "freshness.documents": 4,
  "lengths.documents": 2,
  "indexing.documents": 2,
  "indexing.listed": 1,
  changes: 2,
  "hits.documents": 2,
  "hits.chunks": 4,
  "flaws.duplicates": 1,
  "flaws.orphans": 1,
  "flaws.errors": 2,
  "flaws.disabled": 1,
};

test("the command of every table prints as many rows as the table has", async () => {
  const facts = await gathered(await jobWithHistory(), gatherAll);
  expect(await compared(facts, (args) => runHere(args))).toEqual({ totals, printed: totals });
  const { changes, flaws } = facts; // of the database, and of the run folder
  const some = { changes: totals.changes, orphans: totals["flaws.orphans"] };
  const built = await compared({ changes, orphans: flaws.orphans }, (args) => runKbdump(args));
  expect(built).toEqual({ totals: some, printed: some });
});

test.runIf(inFull)(
  "so do those of a run whose rows are in the database alone, and of a folder that lies elsewhere",
  async () => {
    const options = {
      formats: [],
      options: { output: { formats: ["duckdb"], csv_safe: false, compress: "none", partition: "none" } },
    };
    const ofDatabase = await gathered(await jobWithHistory(options), gatherAll);
    expect(await compared(ofDatabase, (args) => runHere(args))).toEqual({ totals, printed: totals });

    const alone = await gathered(await writeDump(await plainFolder(), now), gatherAll);
    const { changes: _changes, ...others } = { ...totals, "hits.chunks": 5, "freshness.documents": 3 };
    expect(await compared(alone, (args) => runHere(args))).toEqual({ totals: others, printed: others });
  },
);

test.runIf(inFull)(
  "no command prints the chunks that were never hit where a document moved and only the database knows hits",
  async () => {
    const documents = [...now.documents, document("moved", 0, 0, { status: "unstable" })];
    const folder = await jobWithHistory({}, { ...now, documents });
    expect((await gathered(folder, gatherHits)).chunks).toMatchObject({ total: 4, query: null });
    const alone = await gathered(folder, gatherHits, { database: "nowhere.duckdb" });
    expect(alone.chunks).toMatchObject({ total: 5, query: expect.stringContaining("FROM chunks WHERE") });
  },
);

test.runIf(inFull)(
  "runs that follow do not change the rows that the command of chunks which were never hit prints",
  async () => {
    const folder = await jobWithHistory();
    const base = join(folder, "..", "..", "..");
    const later = await history();
    await later.run(third, tablesOf([chunk("a", "n2", { ...on, hit_count: 9 }), chunk("failed", "f1", on)]));
    await rename(later.path, join(base, "test", "test.duckdb"));
    const { chunks } = await gathered(folder, gatherHits);
    const reported = { totals: { chunks: 4 }, printed: { chunks: 4 } };
    expect(await compared({ chunks }, (args) => runHere(args))).toEqual(reported);
  },
);
