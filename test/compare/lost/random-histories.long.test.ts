import fc from "fast-check";
import { expect, it } from "vitest";
import { JobDatabase, read } from "../../database/job-database.js";
import { rounds } from "../../rounds.js";
import { historiesAt } from "./history-at.js";
import { historyFrom, type Nights, nights, readings, rowsOf, startOf } from "./worked-documents.js";

/** Fills a database with what the runs read of many documents, and compares every history with what they saw. */
async function checkHistories(all: readonly Nights[]): Promise<void> {
  const database = await JobDatabase.create();
  const seen = all.map((each, at) => ({ id: `doc${at}`, held: readings(`doc${at}`, each) }));
  for (const run of [0, 1, 2, 3]) {
    const found = seen.map(({ id, held }) => ({ id, read: held[run], ...rowsOf(id, held[run] ?? []) }));
    const tables = {
      chunks: found.flatMap(({ chunks }) => chunks),
      child_chunks: found.flatMap(({ children }) => children),
      documents: found.map(({ id, read: held }) => read(id, held ? "complete" : "failed")),
    };
    await database.run(`r${run}`, tables, { run: { started_at: startOf(run) } });
  }
  for (const run of [0, 1, 2, 3]) {
    const whole = seen.filter(({ held }) => held[run]);
    const found = whole.map(({ id, held }) => rowsOf(id, held[run] ?? []));
    const described = {
      chunks: found.flatMap(({ chunks }) => chunks),
      children: found.flatMap(({ children }) => children),
    };
    const ids = whole.map(({ id }) => id);
    const { histories, warning } = await historiesAt(database.path, `r${run}`, described, ids);
    expect(warning).toBe(undefined);
    for (const [at, { id, held }] of whole.entries())
      expect([run, id, histories[at]]).toEqual([run, id, historyFrom(held.slice(0, run + 1))]);
  }
}

it("contains exactly the random edits that the runs saw, up to every run", async () => {
  const documents = fc.array(nights, { minLength: 40, maxLength: 40 });
  await fc.assert(fc.asyncProperty(documents, checkHistories), {
    numRuns: rounds(1, 10, "KBDUMP_RANDOM_HISTORIES"),
    endOnFailure: true,
  });
}, 300_000);
