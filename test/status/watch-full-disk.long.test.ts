import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { takeStatus } from "../../src/status/capture-status.js";
import { watchStatus } from "../../src/status/watch-status.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { query } from "../run/read-dump.js";
import { canMount, tinyDisk } from "../run/tiny-disk.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../servers/store.js";
import { WatchClock } from "./watch-clock.js";

test.runIf(canMount)("a disk that is full while it watches: clear words, and every reading is kept", async () => {
  const store = new Store();
  const document = makeDocument({ chunks: 1 });
  const dataset = store.addDataset(document);
  const long = (read: number) => ({ indexing_status: "paused", error: `${read} ${"x".repeat(20_000)}` });
  dataset.batches.set("b", (read) => [makeStatusEntry(document.id, long(read))]);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const { path: disk, grow } = await tinyDisk(folder, 300);
  const job = await jobFor(folder, {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: [document.id], batches: ["b"] }],
    output: { dir: disk, formats: ["duckdb"] },
  });
  const env = { KNOWLEDGE_API_KEY: server.key };
  const { now, sleep } = new WatchClock();
  await expect(watchStatus(job, { env, now, sleep, interval: 1_000 })).rejects.toThrow(
    `the disk of ${disk} is full (watching). What was read is kept`,
  );
  const waiting = join(disk, "test", ".work", "indexing_status");
  const kept = await readdir(waiting);
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.filter((name) => !name.endsWith(".jsonl"))).toEqual([]);

  const log: string[] = [];
  grow(400); // enough for one more reading, but not for a database
  const report = (_level: string, message: string) => log.push(message);
  expect(await takeStatus(job, { env, log: report })).toMatchObject({ added: false });
  expect(log).toEqual([expect.stringContaining("is full (adding readings to the database)")]);
  grow(60_000);
  expect(await takeStatus(job, { env })).toMatchObject({ added: true });
  const database = join(disk, "test", "test.duckdb");
  expect(await query("SELECT count(*)::INT AS n FROM indexing_status", database)).toEqual([{ n: kept.length + 2 }]);
});
