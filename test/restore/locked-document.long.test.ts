import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { runJob } from "../../src/run/run-job.js";
import { runKbdump } from "../cli/run-kbdump.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { type Fate, openLossyWire } from "../servers/lossy-wire.js";
import { datasetId, documentId, KnowledgeBase } from "./random/knowledge-base.js";

const key = "restore-key";

test("an add that waits for a lock of the service is stored once: the command says when to run again, and then finds it", async () => {
  const base = new KnowledgeBase({ form: "text_model", chunks: 2 });
  const service = await startService({ demo: base.demo, key });
  let adds = 0;
  const fates: readonly Fate[] = [{ late: 4_000 }];
  const wire = await openLossyWire(service.url, ({ method }) =>
    method === "GET" ? "pass" : (fates[adds++] ?? "pass"),
  );
  onTestFinished(async () => {
    await wire.close();
    await service.close();
  });
  const job = await jobFor(await testFolder(), {
    service: { base_url: wire.url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    output: { formats: ["jsonl", "duckdb"] },
  });
  const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  await run();
  await base.work({ do: "add" });
  await base.work({ do: "add" });
  const { folder } = await run();
  const backup = base.chunks.map(({ content }) => content);
  base.demo.store.reindex(documentId, { seconds: 0 });

  const args = ["restore", folder, "--apply", "--yes", "--settle", "0", "--lock-time", "70"];
  const first = await runKbdump(args, { KNOWLEDGE_RESTORE_KEY: key });
  expect(first).toMatchObject({ code: 3 });
  expect(first.stdout).toMatch(
    /an earlier add to this document may still complete until .*run the same command again/s,
  );
  expect([adds, base.chunks.length]).toEqual([1, 2]);

  const second = await runKbdump(args, { KNOWLEDGE_RESTORE_KEY: key });
  expect(second.stderr).toMatch(/waiting until \S+ for an earlier write that the service has not answered/);
  expect(second).toMatchObject({ code: 0 });
  expect([adds, base.chunks.map(({ content }) => content)]).toEqual([2, backup]);
}, 60_000);
