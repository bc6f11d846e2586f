import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { runJob } from "../../src/run/run-job.js";
import { runKbdump } from "../cli/run-kbdump.js";
import { inFull, rounds } from "../rounds.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { backUp } from "./copy/back-up.js";
import { readCopies } from "./copy/random/copies.js";
import { freezeRestore } from "./frozen-restore.js";
import { datasetId, documentId, KnowledgeBase } from "./random/knowledge-base.js";

const key = "restore-key";
const env = { KNOWLEDGE_RESTORE_KEY: key };
const moments = [1, 2, 3, 4, 5, 6];

test.runIf(inFull).each(moments.slice(0, rounds(1, moments.length)))(
  "a restore that wakes at write %d, when another one has ended, sends nothing more",
  async (number) => {
    const base = new KnowledgeBase({ form: "text_model", chunks: 6 });
    const service = await startService({ demo: base.demo, key });
    onTestFinished(service.close);
    const job = await jobFor(await testFolder(), {
      service: { base_url: service.url },
      datasets: [{ id: datasetId, documents: [documentId] }],
      output: { formats: ["jsonl", "duckdb"] },
    });
    const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
    await run();
    for (let count = 0; count < 6; count++) await base.work({ do: "add" });
    const { folder } = await run();
    const backup = base.chunks.map(({ content }) => content);
    base.demo.store.reindex(documentId, { seconds: 0 });

    const args = ["restore", folder, "--apply", "--yes"];
    const frozen = await freezeRestore(folder, [], key, number);
    const successor = await runKbdump([...args, "--settle", "0", "--lock-time", "0", "--json"], env);
    expect(successor).toMatchObject({ code: 0 });
    expect(JSON.parse(successor.stdout)).toMatchObject({ status: "proved" });
    const woken = await frozen?.wake();
    expect(base.chunks.map(({ content }) => content).sort()).toEqual([...backup].sort());
    expect(woken).toMatchObject({ code: 1, stderr: expect.stringContaining("/lock was removed") });
  },
  60_000,
);

test.runIf(inFull).each(moments.slice(0, rounds(1, moments.length)))(
  "a copy that wakes at write %d, when another one has ended, sends nothing more",
  async (number) => {
    const chunks = ["one", "two"].map((content) => ({
      ...{ content, answer: "", keywords: [], isEnabled: true, children: null },
    }));
    const document = { form: "text_model", state: "available", value: null, chunks } as const;
    const { target, wire, folder } = await backUp({
      ...{ technique: "economy", tags: [], cap: 0, unindexed: 0, fates: [], breaks: [], frozenAt: null, planted: null },
      documents: [
        { ...document, name: "one.txt" },
        { ...document, name: "two.txt" },
      ],
    });
    const args = ["copy", folder, "--to", wire.url, "--apply", "--yes"];
    const frozen = await freezeRestore(folder, ["--to", wire.url], key, number);
    const successor = await runKbdump([...args, "--settle", "0", "--lock-time", "0", "--json"], env);
    expect(successor).toMatchObject({ code: 0 });
    const before = await readCopies(target.url, key);
    const woken = await frozen?.wake();
    expect(await readCopies(target.url, key)).toEqual(before);
    expect(woken).toMatchObject({ code: 1, stderr: expect.stringContaining("/lock was removed") });
  },
  60_000,
);
