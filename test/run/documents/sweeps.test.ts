import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import { runJob } from "../../../src/run/run-job.js";
import { inFull } from "../../rounds.js";
import type { Behaviour, RequestRecord } from "../../servers/behaviour.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store, type TestDocument } from "../../servers/store.js";
import { expectedChunk } from "../expected-rows.js";
import { jobFor, testFolder } from "../job-for.js";
import { readJsonl } from "../read-dump.js";

async function startPlace(document: TestDocument, behaviour: Behaviour, more: Record<string, unknown> = {}) {
  const store = new Store();
  const dataset = store.addDataset(document);
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: server.url, concurrency: 1, retries: 0 },
    datasets: [{ id: dataset.id, documents: [document.id] }],
    consistency: "sweeps",
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
    ...more,
  });
  const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
  return { server, dataset, run };
}

const isChunkPage = ({ path }: RequestRecord) => path.endsWith("/segments");

/** Replaces a chunk by another one, so that the total stays the same. */
function swap(document: TestDocument, seed: number): void {
  const [other] = makeDocument({ chunks: 1, seed }).chunks;
  if (other) document.chunks.splice(0, 1, { ...other, document_id: document.id });
}

test.runIf(inFull)(
  "a document at rest is read twice: chunk pages, and the child lists of more than one page",
  async () => {
    const document = makeDocument({ chunks: 201, childrenPerChunk: (at) => (at === 7 ? 230 : at % 2) });
    const { run, server } = await startPlace(document, { ties: "shuffled" });
    const { manifest } = await run();
    expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 2, chunk_count: 201, error: null });
    const asked = (end: string) => server.requests.filter(({ path }) => path.endsWith(end)).length;
    expect({ pages: asked("/segments"), lists: asked("/child_chunks") }).toEqual({ pages: 6, lists: 203 + 3 });
  },
);

test.runIf(inFull)(
  "a chunk swapped after it was read, which no count shows, is found by the second sweep and read",
  async () => {
    const document = makeDocument({ chunks: 250 });
    const behaviour: Behaviour = {
      onRequest: (request) => {
        if (isChunkPage(request) && request.query.startsWith("page=3") && request.nth === 0) swap(document, 77);
      },
    };
    const counts = await startPlace(makeDocument({ chunks: 250 }), {}, { consistency: "counts" });
    expect((await counts.run()).manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 1 });

    const { run, dataset } = await startPlace(document, behaviour, { child_chunks: "none" });
    const { manifest, folder } = await run();
    expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 4, error: null });
    expect(await readJsonl(folder, "chunks")).toEqual(
      document.chunks.map((chunk) => expectedChunk(dataset.id, document.id, chunk)),
    );
  },
);

test.runIf(inFull)("an edited content is seen, a hit count that moves is not one", async () => {
  const document = makeDocument({ chunks: 150 });
  const behaviour: Behaviour = {
    onRequest: (request) => {
      const [chunk] = document.chunks;
      if (!chunk || !isChunkPage(request)) return;
      chunk.hit_count = Number(chunk.hit_count) + 1;
      if (request.query.startsWith("page=2") && request.nth === 0) chunk.content = "edited";
    },
  };
  const { manifest } = await (await startPlace(document, behaviour)).run();
  expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 4 });
});

test.runIf(inFull)("a document that changes before every second sweep is unstable, and says why", async () => {
  const document = makeDocument({ chunks: 150 });
  let seed = 100;
  const behaviour: Behaviour = {
    onRequest: (request) => {
      if (isChunkPage(request) && request.query.startsWith("page=2")) swap(document, seed++);
    },
  };
  const { manifest } = await (await startPlace(document, behaviour, { child_chunks: "none" })).run();
  expect(manifest.status).toBe("partial");
  expect(manifest.documents[0]).toMatchObject({ status: "unstable", sweeps: 6, chunk_count: 150 });
  expect(manifest.documents[0]?.error).toBe("chunks: a second sweep found other ids or contents");
});

test("children swapped in a list of more than one page are seen", async () => {
  const document = makeDocument({ chunks: 3, childrenPerChunk: 150 });
  const [list] = document.children.values();
  const behaviour: Behaviour = {
    onRequest: ({ path, query, nth }) => {
      const last = path.includes(document.chunks[2]?.id ?? "") && query.startsWith("page=2") && nth === 0;
      if (last && list?.[0]) list[0] = { ...list[0], content: "edited" };
    },
  };
  const { manifest, folder } = await (await startPlace(document, behaviour)).run();
  expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 4 });
  expect((await readJsonl(folder, "child_chunks"))[0]?.content).toBe("edited");
});

test.runIf(inFull).each([
  ["sweeps", 4],
  ["anchored", 4],
  ["counts", 3], // pages that are read again after the sweep are not swept
])("%s: what an earlier process read is swept", async (consistency, sweeps) => {
  const document = makeDocument({ chunks: 950 });
  let broken = true;
  const behaviour: Behaviour = {
    faults: ({ query }) =>
      broken && query.startsWith("page=9") ? { kind: "status", status: 401, body: "json" } : undefined,
  };
  const { run } = await startPlace(document, behaviour, { child_chunks: "none", consistency });
  await expect(run()).rejects.toThrow(StopError);
  broken = false;
  swap(document, 55); // on page 1, which the second run does not read again
  const { manifest, folder } = await run();
  expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps });
  expect((await readJsonl(folder, "chunks"))[0]?.id).toBe(document.chunks[0]?.id);
});

test.runIf(inFull)(
  "a document whose second reading is interrupted is read as often as any other that changed once",
  async () => {
    const document = makeDocument({ chunks: 150 });
    let broken = true;
    const behaviour: Behaviour = {
      onRequest: (request) => {
        if (isChunkPage(request) && request.query.startsWith("page=2") && request.nth === 0) swap(document, 77);
      },
      faults: ({ query, nth }) =>
        broken && query.startsWith("page=1") && nth === 2 ? { kind: "status", status: 401, body: "json" } : undefined,
    };
    const { run } = await startPlace(document, behaviour, { child_chunks: "none" });
    await expect(run()).rejects.toThrow(StopError);
    broken = false;
    expect((await run()).manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 4, chunk_count: 150 });
  },
);
