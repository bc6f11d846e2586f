import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runJob } from "../../../src/run/run-job.js";
import { inFull } from "../../rounds.js";
import type { Behaviour } from "../../servers/behaviour.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store, type TestDocument } from "../../servers/store.js";
import { expectedChunk } from "../expected-rows.js";
import { jobFor, testFolder } from "../job-for.js";
import { readJsonl } from "../read-dump.js";

async function dump(document: TestDocument, behaviour: Behaviour) {
  const store = new Store();
  const dataset = store.addDataset(document);
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: server.url, concurrency: 1 },
    datasets: [{ id: dataset.id, documents: [document.id] }],
    child_chunks: "none",
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
  });
  const result = await runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
  return { ...result, chunks: await readJsonl(result.folder, "chunks"), dataset };
}

const isPage = (query: string, page: number) => query.startsWith(`page=${page}&`);

test.runIf(inFull)("rows deleted between two pages: the document is read again and is whole", async () => {
  const document = makeDocument({ chunks: 500, seed: 3 });
  const { manifest, chunks, dataset } = await dump(document, {
    onRequest: ({ query, nth }) => {
      if (isPage(query, 3) && nth === 0) document.chunks.splice(0, 50);
    },
  });
  expect(manifest.documents[0]).toMatchObject({
    status: "complete",
    total: 450,
    chunk_count: 450,
    sweeps: 3,
    error: null,
  });
  expect(chunks).toEqual(document.chunks.map((chunk) => expectedChunk(dataset.id, document.id, chunk)));
});

test("a document that keeps changing is published as unstable, each id once, and the run is partial", async () => {
  const document = makeDocument({ chunks: 500, seed: 4 });
  const { manifest, chunks } = await dump(document, {
    onRequest: ({ query }) => {
      if (isPage(query, 3)) document.chunks.splice(0, 10);
    },
  });
  expect(manifest.status).toBe("partial");
  expect(manifest.documents[0]).toMatchObject({ status: "unstable", sweeps: 3, chunk_count: chunks.length });
  expect(manifest.documents[0]?.error).toContain("total of chunks went from 480 to 470 between two pages");
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(chunks.length);
});

test.runIf(inFull)("a document does not count as complete if the service repeats page 1", async () => {
  const document = makeDocument({ chunks: 300, seed: 5 });
  const { manifest, chunks } = await dump(document, { paging: "same-page" });
  expect(manifest.documents[0]).toMatchObject({ status: "unstable", total: 300, chunk_count: 100 });
  expect(manifest.documents[0]?.error).toContain("100 of 100 ids on a page of chunks came before");
  expect(chunks).toHaveLength(100);
});
