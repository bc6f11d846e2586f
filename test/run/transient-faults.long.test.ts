import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { runJob } from "../../src/run/run-job.js";
import { rounds } from "../rounds.js";
import { randomTransientFaults } from "../servers/faults.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFor, testFolder } from "./job-for.js";

const files = ["chunks.jsonl", "child_chunks.jsonl"];

test("whatever transient faults happen on the way, the files are the same", async () => {
  const store = new Store();
  const dataset = store.addDataset(
    makeDocument({ chunks: 230, seed: 1 }),
    makeDocument({ chunks: 25, seed: 2, childrenPerChunk: (at) => (at === 3 ? 220 : at % 3) }),
  );
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const run = async (name: string, concurrency: number) => {
    const job = await jobFor(folder, {
      name,
      service: { base_url: server.url, concurrency },
      datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()] }],
      child_chunks: "all",
      output: { dir: join(folder, "out"), formats: ["jsonl"] },
    });
    const result = await runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
    return { ...result, contents: await Promise.all(files.map((file) => readFile(join(result.folder, file), "utf8"))) };
  };
  const undisturbed = await run("undisturbed", 4);

  let retried = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 2, max: 16 }), async (seed, concurrency) => {
      server.behaviour.faults = randomTransientFaults(seed, 0.04, 3);
      const { manifest, contents } = await run(`seed-${seed}`, concurrency);
      retried += manifest.requests.retried;
      expect(manifest.status).toBe("complete");
      expect(Object.values(manifest.retries).reduce((sum, count) => sum + count, 0)).toBe(manifest.requests.retried);
      expect(contents).toEqual(undisturbed.contents);
    }),
    { numRuns: rounds(2, 4) },
  );
  expect(retried).toBeGreaterThan(5);
});
