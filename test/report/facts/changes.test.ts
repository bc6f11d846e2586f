import { expect, test } from "vitest";
import { gatherChanges } from "../../../src/report/facts/changes.js";
import { changedKinds } from "../../../src/report/report-facts.js";
import { tablesOf } from "../../compare/diff/dumps.js";
import { JobDatabase } from "../../database/job-database.js";
import { change } from "../../database/query.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { child, chunk } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";
import { gathered } from "./gather.js";

const runAt = (at: number) => `20250306T${String(at).padStart(9, "0")}Z`;

/** The changes that the history has up to a run. */
async function changesAt(run_id: string, database: JobDatabase | undefined) {
  const folder = await writeDump(await plainFolder(), tablesOf([]), { manifest: { run_id } });
  return gathered(folder, gatherChanges, { database: database?.path });
}

test("every run up to this one has its changes by kind; those of hit counts alone are none", async () => {
  const database = await JobDatabase.create();
  const a = (id: string, more = {}) => chunk("a", id, { enabled: true, ...more });
  const stays = ["c1", "c2", "c3", "c4", "c5", "c6", "c7"];
  const before = [...stays.map((id, at) => a(id, { position: at + 1 })), chunk("b", "b1", { content: "b" })];
  const children = [
    child("a", "c1", "k1"),
    child("a", "c1", "k2", { content: "two", position: 2 }),
    child("a", "c2", "k4", { content: "four" }),
  ];
  await database.run(runAt(1), tablesOf(before, children), { run: { started_at: "2025-03-06T01:00:00Z", chunks: 8 } });
  const after = [
    a("c1", { content: "other", position: 1 }),
    a("c2", { position: 9 }),
    a("c3", { position: 3, enabled: false }),
    a("c4", { position: 4, keywords: ["k"] }),
    a("c5", { position: 5, hit_count: 7 }),
    a("c6", { position: 6, status: "error" }),
    a("c8", { position: 8, summary: "s" }),
    a("c10", { position: 10 }),
    chunk("b", "b2", { content: "b" }),
  ];
  const fresh = [
    child("a", "c1", "k2", { content: "else", position: 2 }),
    child("a", "c3", "k3", { content: "three" }),
    child("a", "c2", "k4", { content: "four", position: 5 }),
  ];
  const started_at = "2025-03-06T02:00:00.250Z";
  await database.run(runAt(2), tablesOf(after, fresh), { run: { started_at, status: "partial", chunks: 9 } });
  await database.run(runAt(3), tablesOf(after, fresh));

  const { runs, total, reason } = await changesAt(runAt(2), database);
  expect([total, reason]).toEqual([2, null]);
  const counts = {
    added: 2,
    removed: 1,
    changed: 1,
    moved: 1,
    reindexed: 1,
    switched: 1,
    fields: 2,
    children_added: 1,
    children_removed: 1,
    children_changed: 1,
    children_fields: 1,
  };
  expect(runs).toEqual([
    { run_id: runAt(1), started_at: Date.UTC(2025, 2, 6, 1), status: "complete", chunks: 8, counts: null },
    { run_id: runAt(2), started_at: Date.UTC(2025, 2, 6, 2, 0, 0, 250), status: "partial", chunks: 9, counts },
  ]);
  const nothing = Object.fromEntries(changedKinds.map((kind) => [kind, 0]));
  expect((await changesAt(runAt(3), database)).runs.map(({ counts }) => counts)).toEqual([null, counts, nothing]);
});

test("the newest 40 runs are shown, oldest first, and all are counted", async () => {
  const database = await JobDatabase.create();
  await database.run(runAt(1), {});
  await change(
    `INSERT INTO runs BY NAME SELECT '20250307T' || lpad(i::VARCHAR, 9, '0') || 'Z' AS run_id, 'complete' AS status FROM range(41) r(i)`,
    database.path,
  );
  const { runs, total } = await changesAt("20250307T000000039Z", database);
  expect([runs.length, runs[0]?.run_id, runs.at(-1)?.run_id, total]).toEqual([
    40,
    "20250307T000000000Z",
    "20250307T000000039Z",
    41,
  ]);
});

test("without a database there is the reason in place of runs", async () => {
  const facts = await changesAt(runAt(1), undefined);
  expect(facts).toEqual({ runs: [], total: 0, query: null, reason: expect.stringMatching(/no database of the job/) });
});
