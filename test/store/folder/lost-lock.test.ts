import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { runJob } from "../../../src/run/run-job.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import type { Behaviour } from "../../servers/behaviour.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store } from "../../servers/store.js";

test("a run without its lock ends without publishing, including requests in flight; the next one continues", async () => {
  const store = new Store();
  const dataset = store.addDataset(makeDocument({ chunks: 250 }));
  const behaviour: Behaviour = {};
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()] }],
    child_chunks: "none",
    output: { formats: ["jsonl"] },
  });
  const options = { env: { KNOWLEDGE_API_KEY: server.key } };
  const place = join(folder, "out", "test");
  const hanging = new Promise<void>((resolve) => {
    behaviour.faults = ({ query }) => {
      if (!query.includes("page=3")) return undefined;
      resolve();
      return { kind: "hang" };
    };
  });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const outcome = runJob(job, options).then(
    () => "published",
    (error: Error) => error.message,
  );
  await hanging;
  await rm(join(place, ".work", "lock"));
  await vi.advanceTimersByTimeAsync(10_000); // the next heartbeat
  expect(await outcome).toMatch(/\.work\/lock was removed while this run was active, so it ends/);
  expect(await readdir(join(place, "runs"))).toEqual([]);
  delete behaviour.faults;
  server.reset();
  expect((await runJob(job, options)).manifest).toMatchObject({ status: "complete", counts: { chunks: 250 } });
  expect(server.requests.filter(({ path }) => path.endsWith("/segments")).length).toBeLessThan(3 + 3); // keeps two pages, sweeps three
  expect(await readdir(join(place, ".work"))).toEqual(["indexing_status"]);
});
