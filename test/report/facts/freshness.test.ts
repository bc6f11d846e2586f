import { describe, expect, it } from "vitest";
import { gatherFreshness } from "../../../src/report/facts/freshness.js";
import { JobDatabase } from "../../database/job-database.js";
import { change } from "../../database/query.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import { child, chunk, document, info } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";
import { gathered } from "./gather.js";

const runAt = (hour: number) => `20250306T${hour}2000000Z`;
const endOf = (hour: number) => Date.UTC(2025, 2, 6, hour, 20, 1, 250);

/** What a run finds of a document: two chunks where it is complete or unstable. */
type Found = Readonly<Record<string, "complete" | "unstable" | "failed">>;

function tablesOf(found: Found): Tables {
  const read = Object.entries(found).filter(([, status]) => status !== "failed");
  return {
    ...noRows,
    chunks: read.flatMap(([id]) => [1, 2].map((position) => chunk(id, `${id}${position}`, { position }))),
    documents: Object.entries(found).map(([id, status]) => document(id, status === "failed" ? 0 : 2, 0, { status })),
  };
}

/** Documents as the run at 13 o'clock, two earlier ones and a later one find them. */
const runs: Readonly<Record<number, Found>> = {
  11: { good: "complete", stale: "complete", wobbly: "unstable", never: "failed", gone: "complete", back: "complete" },
  12: { good: "complete", stale: "complete", wobbly: "failed", never: "failed" },
  13: { good: "complete", stale: "failed", wobbly: "failed", never: "failed", first: "failed", moving: "unstable" },
  14: {
    good: "complete",
    stale: "complete",
    wobbly: "complete",
    never: "complete",
    first: "complete",
    back: "complete",
  },
};

/** Adds what a run at an hour finds; `gone` and `back` are not listed any more from 12 o'clock on. */
async function runIn(made: JobDatabase, hour: number): Promise<void> {
  const times = { started_at: `2025-03-06T${hour}:20:00.000Z`, finished_at: `2025-03-06T${hour}:20:01.250Z` };
  await made.run(runAt(hour), tablesOf(runs[hour] ?? {}), { run: times });
  if (hour !== 12) return;
  const row = (id: string, name: string) => `('${runAt(12)}', 'vanished', 'd', '${id}', '${name}')`;
  const rows = `${row("gone", "Gone.md")}, ${row("back", "Back.md")}`;
  await change(
    `INSERT INTO document_changes (run_id, change, dataset_id, document_id, name) VALUES ${rows}`,
    made.path,
  );
}

const thisRun = async () => writeDump(await plainFolder(), tablesOf(runs[13] ?? {}));
const freshnessOf = async (database?: string, content = true) =>
  gathered(await thisRun(), gatherFreshness, { database, content });

it("a document is stale if an earlier run read it, and has the end of that run; later runs change nothing of it", async () => {
  const made = await JobDatabase.create();
  for (const hour of [11, 12, 13]) await runIn(made, hour);
  const facts = await freshnessOf(made.path);
  const reported = facts.documents.rows.map(({ document_id, state, read_well_at }) => [
    document_id,
    state,
    read_well_at,
  ]);
  expect(reported).toEqual([
    ["never", "never read", null],
    ["first", "never read", null],
    ["wobbly", "unstable", null],
    ["moving", "unstable", null],
    ["stale", "stale", endOf(12)],
    ["good", "fresh", endOf(13)],
    ["back", "not in this run", endOf(11)],
    ["gone", "not in this run", endOf(11)],
  ]);
  expect(facts.states).toEqual({ fresh: 1, stale: 1, unstable: 2, "never read": 2, "not in this run": 2 });
  expect(facts).toMatchObject({ as_of: endOf(13), has_history: true, documents: { total: 8 } });
  expect(facts.documents.rows.at(-1)?.document_name).toBe("Gone.md");
  expect(JSON.stringify((await freshnessOf(made.path, false)).documents.rows)).not.toContain(".md");
  await runIn(made, 14);
  expect(await freshnessOf(made.path)).toEqual(facts);
});

it("without a history nobody knows earlier reads", async () => {
  const { states, documents, has_history } = await freshnessOf();
  expect(states).toEqual({ fresh: 1, stale: 0, unstable: 1, "never read": 4, "not in this run": 0 });
  expect([documents.total, has_history]).toEqual([6, false]);
});

describe("the last change of a document", () => {
  const at = (day: number) => ({ created_at: "2025-01-01T00:00:00Z", updated_at: `2025-01-${day}T00:00:00Z` });
  const tables = {
    ...noRows,
    chunks: [chunk("a", "1", at(20)), chunk("a", "2", at(10)), chunk("b", "3", at(30))],
    child_chunks: [child("a", "1", "k", at(25))],
    documents: [document("a", 2, 1), document("b", 1, 0), document("empty", 0, 0)],
    document_info: [info("a", { dataset_name: "Books", name: "A" })],
  };

  it("is that of its newest chunk or child chunk, and those that changed longest ago come first", async () => {
    const { documents, spans, states } = await gathered(await writeDump(await plainFolder(), tables), gatherFreshness);
    expect(documents.rows).toMatchObject([
      { document_id: "a", changed_at: Date.UTC(2025, 0, 25), chunks: 2, document_name: "A", dataset_name: "Books" },
      { document_id: "b", changed_at: Date.UTC(2025, 0, 30), chunks: 1, document_name: null, dataset_name: "Books" },
      { document_id: "empty", changed_at: null, chunks: 0 },
    ]);
    expect(states.fresh).toBe(3);
    expect(spans.length).toBe(48);
    expect(spans[0]).toMatchObject({ from: Date.UTC(2025, 0, 25), documents: { fresh: 1 } });
    expect(spans.at(-1)).toMatchObject({ to: Date.UTC(2025, 0, 30) + 1, documents: { fresh: 1 } });
    for (const [index, { from }] of spans.slice(1).entries()) expect(from).toBe(spans[index]?.to);
    expect(spans.reduce((sum, { documents: { fresh } }) => sum + fresh, 0)).toBe(2);
  });

  it("is in one span if all are the same, and in none if no time is known", async () => {
    const spansOf = async (chunks: Tables["chunks"]) =>
      (
        await gathered(
          await writeDump(await plainFolder(), { ...noRows, chunks, documents: [document("a", chunks.length, 0)] }),
          gatherFreshness,
        )
      ).spans;
    const time = Date.UTC(2025, 0, 20);
    expect(await spansOf([chunk("a", "1", at(20))])).toMatchObject([
      { from: time, to: time + 1, documents: { fresh: 1 } },
    ]);
    expect(await spansOf([])).toEqual([]);
  });
});
