import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runJob } from "../../src/run/run-job.js";
import { rounds } from "../rounds.js";
import type { RateLimit } from "../servers/rate-limit.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFor, testFolder } from "./job-for.js";

async function dump(rateLimit: RateLimit | undefined, service: Record<string, unknown>) {
  const store = new Store();
  const dataset = store.addDataset(makeDocument({ chunks: 150, seed: 1, childrenPerChunk: 1 }));
  const server = await startRealisticServer(store, rateLimit ? { rateLimit } : {});
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: server.url, ...service },
    datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()] }],
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
  });
  const { manifest } = await runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
  return { manifest, requests: server.requests };
}

const answers = ["429-date", "403-sentence", "429-seconds", "503", "429"] as const;

test.each(answers.slice(0, rounds(2, answers.length)))(
  "a service that lets 40 requests a second in and answers %s is read whole, with few refusals",
  async (answer) => {
    const { manifest, requests } = await dump({ perSecond: 40, answer }, { concurrency: 4 });
    expect(manifest).toMatchObject({ status: "complete", counts: { chunks: 150, child_chunks: 150 } });
    const refused = requests.filter(({ status }) => status !== 200).length;
    expect(manifest.requests).toMatchObject({ sent: requests.length, retried: refused, throttled: refused });
    expect(refused).toBeGreaterThan(0);
    expect(refused / requests.length).toBeLessThan(0.1);
    const [first] = requests.filter(({ status }) => status !== 200);
    const sentLater = requests.filter(({ at }) => first && at > first.at + 400 && at < first.at + 900);
    expect(sentLater).toEqual([]);
  },
);

test("max_rps is kept", async () => {
  const { requests } = await dump(undefined, { concurrency: 8, max_rps: 100 });
  const inAnySecond = requests.map(
    ({ at }) => requests.filter((other) => other.at >= at && other.at < at + 500).length,
  );
  expect(Math.max(...inAnySecond)).toBeLessThanOrEqual(53);
  expect(Math.max(...inAnySecond)).toBeGreaterThan(40);
});
