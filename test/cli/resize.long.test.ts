import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openKbdump } from "../pseudo-terminal.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../servers/store.js";

/** A batch of three documents whose indexing never finishes. */
async function startPlace() {
  const store = new Store();
  const documents = [1, 2, 3].map((seed) => makeDocument({ chunks: 1, seed }));
  const dataset = store.addDataset(...documents);
  const working = { indexing_status: "indexing", completed_at: null, completed_segments: 1, total_segments: 3 };
  const begun = { processing_started_at: Date.now() / 1000 };
  dataset.batches.set(
    "2026",
    documents.map(({ id }) => makeStatusEntry(id, { ...working, ...begun })),
  );
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const datasets = [{ id: dataset.id, documents: "all", batches: ["2026"] }];
  const job = await jobFile(await testFolder(), { service: { base_url: server.url }, datasets });
  return { job, env: { KNOWLEDGE_API_KEY: server.key } };
}

test("on a real terminal a resize leaves nothing stale", async () => {
  const { job, env } = await startPlace();
  const watch = ["status", job, "--watch", "--interval", "0.2", "--timeout", "4"];
  const terminal = openKbdump(watch, { env, columns: 100 });
  const shown = () => {
    const lines = terminal.lines();
    const count = (text: string) => lines.filter((line) => line.includes(text)).length;
    return { totals: count("documents comp"), bars: count("━"), lines: lines.length };
  };
  const whole = { totals: 1, bars: 3, lines: 4 };
  for (const columns of [100, 60, 30, 120]) {
    terminal.resize({ columns, rows: 30 });
    await expect.poll(shown, { timeout: 10_000 }).toEqual(whole);
    await delay(300); // the screen is still the same after another redraw
    expect(shown()).toEqual(whole);
    expect(terminal.broken()).toEqual([]);
  }
  expect(await terminal.ended).toBe(1);
  expect(terminal.lines()[0]).toMatch(/^not completed in time: 3 documents /);
  expect(terminal.text()).not.toContain("━");
});
