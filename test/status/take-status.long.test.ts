import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runJob } from "../../src/run/run-job.js";
import { takeStatus } from "../../src/status/capture-status.js";
import { lockJob } from "../../src/store/folder/lock.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { query } from "../run/read-dump.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { growingBatch, makeDocument, Store } from "../servers/store.js";

async function startPlace(batches: readonly string[] = ["2025"]) {
  const store = new Store();
  const document = makeDocument({ chunks: 3 });
  const dataset = store.addDataset(document);
  dataset.batches.set("2025", growingBatch([document.id], 40, 10));
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: server.url, retries: 0 },
    datasets: [{ id: dataset.id, documents: [document.id], batches }],
    output: { dir: join(folder, "out"), formats: ["duckdb"] },
  });
  const options = { env: { KNOWLEDGE_API_KEY: server.key } };
  const place = join(folder, "out", "test");
  const done = () =>
    query("SELECT completed_segments::INT AS n FROM indexing_status ORDER BY captured_at", join(place, "test.duckdb"));
  return {
    document,
    server,
    work: join(place, ".work"),
    run: () => runJob(job, options),
    take: () => takeStatus(job, options),
    done,
  };
}

test("a snapshot makes the database if there is none, and asks for nothing but the batches", async () => {
  const { take, done, server, document, work } = await startPlace();
  const status = await take();
  expect(status).toMatchObject({
    added: true,
    failures: [],
    rows: [{ batch: "2025", document_id: document.id, completed_segments: 0 }],
  });
  expect(server.requests.map(({ path }) => path.split("/").at(-1))).toEqual(["indexing-status"]);
  expect(await done()).toEqual([{ n: 0 }]);
  expect(await readdir(join(work, "indexing_status"))).toEqual([]);
});

test("snapshots and runs add to one history", async () => {
  const { take, run, done } = await startPlace();
  await run();
  await take();
  await take();
  await run();
  expect(await done()).toEqual([0, 10, 20, 30, 40, 40].map((n) => ({ n })));
});

test("while a run is in progress a snapshot waits beside the database, and the next run adds it", async () => {
  const { take, run, done, work } = await startPlace();
  await run();
  const lock = await lockJob(work, new Date());
  expect(await take()).toMatchObject({ added: false });
  expect(await done()).toHaveLength(2);
  expect(await readdir(join(work, "indexing_status"))).toHaveLength(1);
  await lock.release(work);
  await run();
  expect(await done()).toEqual([0, 10, 20, 30, 40].map((n) => ({ n })));
  expect(await readdir(join(work, "indexing_status"))).toEqual([]);
});

test("a missing batch is reported, and the others are read", async () => {
  const { take, done } = await startPlace(["nowhere", "2025"]);
  const { failures } = await take();
  expect(failures).toEqual([expect.stringMatching(/^indexing status of batch "nowhere": .*404 not_found/)]);
  expect(await done()).toHaveLength(1);
});
