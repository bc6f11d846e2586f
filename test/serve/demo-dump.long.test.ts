import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { demoKnowledge } from "../../src/demo/demo-knowledge.js";
import { DocumentStore } from "../../src/demo/document-store.js";
import { outlines } from "../../src/demo/sample/outlines.js";
import { buildDataset } from "../../src/demo/sample/sample-knowledge.js";
import { startService } from "../../src/demo/start-service.js";
import type { RunResult } from "../../src/run/make-run.js";
import { runJob } from "../../src/run/run-job.js";
import { type ServedDump, serveDump } from "../../src/serve/serve-dump.js";
import { readEverything } from "../demo/description/read-everything.js";
import { inPractice, violations } from "../demo/description/violations.js";
import { jobFor } from "../run/job-for.js";
import { ask } from "./ask.js";
import { dumpAgain, expectSame } from "./redump.js";

/** The sample data with shorter documents: within 50 chunks, they still show every peculiarity. */
const shorter = outlines.map((outline) => ({
  ...outline,
  documents: outline.documents.map((document) => ({
    ...document,
    chunkCount: document.chunkCount > 300 ? 150 : document.chunkCount,
  })),
}));

let base: string;
let demo: RunResult;
let dump: ServedDump;

/** The sample data, read by discovery and served from its dump. */
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "kbdump-serve-test-"));
  const datasets = shorter.map((outline) => buildDataset(outline, () => new Date()));
  const service = await startService({ demo: demoKnowledge(new DocumentStore(datasets, () => new Date())) });
  const found = { service: { base_url: service.url }, datasets: "all", child_chunks: "auto" };
  const job = await jobFor(base, { ...found, output: { formats: ["jsonl"] } });
  demo = await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } });
  await service.close();
  dump = await serveDump(demo.folder);
}, 120_000);

afterAll(async () => {
  await dump.close();
  await rm(base, { recursive: true, force: true });
});

test("a dump of the sample data, served and dumped again, is the same, byte for byte, with every child list asked for", async () => {
  expect(demo.manifest).toMatchObject({ status: "complete", counts: { chunks: 1657, child_chunks: 1572 } });
  const again = await dumpAgain(dump, demo.folder, ["jsonl"], { datasets: "all" });
  expect(again.manifest).toMatchObject({ status: "complete", drift: {} });
  expect(again.manifest.documents).toEqual(demo.manifest.documents);
  await expectSame(demo.folder, again.folder, ["jsonl"]);
  const info = [demo.folder, again.folder].map((folder) => readFile(join(folder, "document_info.jsonl"), "utf8"));
  expect(await info[1]).toBe(await info[0]);
}, 120_000);

test("child_chunks: auto has the same rows of it as all", async () => {
  const again = await dumpAgain(dump, demo.folder, ["jsonl"], { child_chunks: "auto" });
  expect(again.manifest.requests.sent).toBeLessThan(700);
  await expectSame(demo.folder, again.folder, ["jsonl"]);
}, 120_000);

test("the answers match the public description, except where real services deviate too", async () => {
  const found = new Set<string>();
  for await (const { operation, body } of readEverything(async (path) => (await ask(dump, path)).text)) {
    for (const violation of violations(operation, body)) found.add(`${operation} ${violation.replace(/\d+/g, "*")}`);
  }
  expect([...found].filter((violation) => !inPractice.includes(violation))).toEqual([]);
  expect(found.size).toBeGreaterThan(5);
}, 120_000);
