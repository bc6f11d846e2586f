import { expect, test } from "vitest";
import { inFull } from "../../rounds.js";
import { deleteChunks } from "../../servers/edits.js";
import { append, idsOf, makeIndexed, startPlace } from "./proving.js";

const isPage = (path: string) => path.endsWith("/segments");

test.runIf(inFull)(
  "reading a document that grows at every request ends: its chunks are those of one moment",
  async () => {
    const document = makeIndexed({ chunks: 420 });
    let added = 0;
    const { run } = await startPlace([document], { onRequest: () => append(document, 1_000 + added++) });
    for (const childChunks of ["none", "auto", "all"]) {
      const { manifest, chunks } = await run({ child_chunks: childChunks });
      expect(manifest.documents[0], childChunks).toMatchObject({ status: "complete", error: null });
      expect(manifest.proofs).toMatchObject([{ document_id: document.id, proof: "anchored" }]);
      expect(idsOf(chunks)).toEqual(idsOf(document.chunks.slice(0, chunks.length)));
      expect(chunks.length).toBe(manifest.documents[0]?.total);
      expect(chunks.length).toBeGreaterThan(420);
    }
  },
);

test.runIf(inFull)("anchored: an unchanging document needs one request a page and two for single rows", async () => {
  const document = makeIndexed({ chunks: 501 });
  const { run, server } = await startPlace([document]);
  const { manifest, chunks } = await run({ child_chunks: "none", consistency: "anchored" });
  expect(idsOf(chunks)).toEqual(idsOf(document.chunks));
  expect(manifest.proofs[0]?.proof).toBe("anchored");
  const asked = server.requests.filter(({ path }) => isPage(path)).map(({ query }) => query);
  const pages = [1, 6, 2, 3, 4, 5].map((page) => `page=${page}&limit=100`);
  expect(asked).toEqual([...pages, "page=100&limit=1", "page=501&limit=1"]);
});

test.runIf(inFull)("anchored: if the last chunk is young, the pages before the last one are read twice", async () => {
  const document = makeIndexed({ chunks: 301 });
  Object.assign(document.chunks.at(-1) ?? {}, { created_at: Math.floor(Date.now() / 1_000) - 600 });
  const { run, server } = await startPlace([document]);
  const { manifest, chunks } = await run({ child_chunks: "none", consistency: "anchored" });
  expect(idsOf(chunks)).toEqual(idsOf(document.chunks));
  expect(manifest.proofs[0]?.proof).toBe("anchored");
  const asked = server.requests.filter(({ path }) => isPage(path)).map(({ query }) => query);
  const pages = (...numbers: number[]) => numbers.map((page) => `page=${page}&limit=100`);
  expect(asked).toEqual([...pages(1, 4, 2, 3), "page=100&limit=1", "page=301&limit=1", ...pages(1, 2, 3)]);
});

test.runIf(inFull).each([
  ["on page 1", 0],
  ["in the middle", 250],
])(
  "anchored: a chunk deleted %s after the last page was read is noticed, and the document read again",
  async (_, at) => {
    const document = makeIndexed({ chunks: 420 });
    const { run, server } = await startPlace([document]);
    server.behaviour.onRequest = ({ query, nth }) => {
      if (!query.startsWith("page=3&") || nth > 0) return;
      deleteChunks(document, at, 1);
      append(document, 99); // keeps the total unchanged
    };
    const { manifest, chunks } = await run({ child_chunks: "none", consistency: "anchored" });
    expect(manifest.documents[0]).toMatchObject({ status: "complete", error: null });
    expect(manifest.proofs[0]?.proof).toBe("sweeps");
    expect(idsOf(chunks)).toEqual(idsOf(document.chunks));
  },
);

test.runIf(inFull).each<[string, (document: ReturnType<typeof makeIndexed>) => void, Record<string, unknown>]>([
  ["is being indexed", ({ chunks }) => Object.assign(chunks[3] ?? {}, { status: "indexing" }), {}],
  ["has no strictly rising positions", ({ chunks }) => chunks.reverse(), {}],
  ["is filtered", () => {}, { status: ["completed"] }],
])("anchored: a document that %s is swept", async (_, change, filter) => {
  const document = makeIndexed({ chunks: 250 });
  change(document);
  const { run, dataset } = await startPlace([document]);
  const datasets = [{ id: dataset.id, documents: [document.id], ...filter }];
  const { manifest, chunks } = await run({ child_chunks: "none", consistency: "anchored", datasets });
  expect(manifest.documents[0]).toMatchObject({ status: "complete", error: null });
  expect(manifest.proofs[0]?.proof).toBe("sweeps");
  expect(chunks.length).toBe(manifest.documents[0]?.total);
});

test.runIf(inFull)("counts: a child list of several pages that was read once is not called anchored", async () => {
  const document = makeIndexed({ chunks: 250, childrenPerChunk: (at) => (at === 3 ? 130 : 0) });
  const { run, server } = await startPlace([document]);
  server.behaviour.onRequest = ({ query, nth }) => {
    if (query.startsWith("page=2&") && nth === 0) append(document, 99);
  };
  const { manifest } = await run({ consistency: "counts" });
  expect(manifest.documents[0]).toMatchObject({ status: "complete", chunk_count: 251, child_chunk_count: 130 });
  expect(manifest.proofs[0]?.proof).toBe("counts");
});

test.runIf(inFull)("anchored: a run interrupted while it reads from the end resumes there, and is swept", async () => {
  const document = makeIndexed({ chunks: 2_050 });
  const { run, server } = await startPlace([document]);
  const job = { child_chunks: "none", consistency: "anchored" };
  server.behaviour.faults = ({ query }) =>
    query.startsWith("page=19&") ? { kind: "status", status: 401, body: "json" } : undefined;
  await expect(run(job)).rejects.toThrow("401");
  delete server.behaviour.faults;
  server.reset();
  const { manifest, chunks } = await run(job);
  expect(idsOf(chunks)).toEqual(idsOf(document.chunks));
  expect(manifest.proofs[0]?.proof).toBe("sweeps");
  expect(server.requests.filter(({ path }) => isPage(path)).length).toBeLessThan(2 * 21 - 5);
});

test.runIf(inFull)("a document of exactly one full page is read twice, because there may be more rows", async () => {
  const { run, server } = await startPlace([makeIndexed({ chunks: 100 }), makeIndexed({ chunks: 99, seed: 2 })]);
  const { manifest } = await run({ child_chunks: "none" });
  expect(manifest.proofs.map(({ proof }) => proof)).toEqual(["sweeps", "one answer"]);
  expect(server.requests.filter(({ path }) => isPage(path))).toHaveLength(3);
});

test("a document that grows and loses chunks at every request is unstable", async () => {
  const document = makeIndexed({ chunks: 420 });
  let added = 0;
  const { run } = await startPlace([document], {
    onRequest: () => {
      append(document, 1_000 + added++);
      append(document, 1_000 + added++);
      deleteChunks(document, 0, 1);
    },
  });
  const { manifest } = await run({ child_chunks: "none" });
  expect(manifest.documents[0]?.status).toBe("unstable");
  expect(manifest.proofs[0]?.proof).toBe("none");
});
