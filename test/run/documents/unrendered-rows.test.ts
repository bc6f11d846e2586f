import { expect, test } from "vitest";
import { inFull } from "../../rounds.js";
import { makeDocument } from "../../servers/store.js";
import { idsOf, startPlace } from "./proving.js";

const outOfRange = { status: 400, code: "invalid_param", message: "year 20000 is out of range" };
const broken = { status: 500, code: "internal_server_error", message: "Internal Server Error" };

test.each([
  ["400", outOfRange],
  ["500", broken],
])("a chunk that the service answers with %s costs itself: all others are there, and it is named", async (_, error) => {
  const documents = [makeDocument({ chunks: 150, seed: 1 }), makeDocument({ chunks: 20, seed: 2 })];
  const [first] = documents;
  const bad = first?.chunks[76]?.id ?? "";
  const { run, server } = await startPlace(documents, { unrendered: new Map([[bad, error]]) });
  const { manifest, chunks } = await run();
  expect(manifest).toMatchObject({ status: "partial", counts: { chunks: 169 } });
  expect(manifest.documents).toMatchObject([
    { status: "unstable", total: 150, chunk_count: 149 },
    { status: "complete", chunk_count: 20 },
  ]);
  expect(manifest.documents[0]?.error).toMatch(/^row 77 of chunks cannot be read: GET .*page=77&limit=1/);
  expect(manifest.documents[0]?.error).toContain(error.message);
  expect(manifest.proofs.map(({ proof }) => proof)).toEqual(["none", "one answer"]);
  expect(idsOf(chunks)).toEqual(idsOf(documents.flatMap((each) => each.chunks)).filter((id) => id !== bad));
  expect(server.requests.filter(({ path }) => path.endsWith("/segments")).length).toBeLessThan(80);
});

test.runIf(inFull)("so does a child chunk", async () => {
  const document = makeDocument({ chunks: 3, childrenPerChunk: 120 });
  const own = document.children.get(document.chunks[1]?.id ?? "") ?? [];
  const { run } = await startPlace([document], { unrendered: new Map([[own[104]?.id ?? "", outOfRange]]) });
  const { manifest, children } = await run();
  expect(manifest.documents[0]).toMatchObject({ status: "unstable", chunk_count: 3, child_chunk_count: 359 });
  expect(manifest.documents[0]?.error).toMatch(/^row 105 of children of chunk \S+ cannot be read: /);
  expect(idsOf(children)).not.toContain(own[104]?.id);
});

test.each([
  ["the first six", 0, 6],
  ["thirty in the middle", 60, 30],
  ["a whole page", 0, 100],
])("many bad rows in turn cost themselves: %s", async (_, from, count) => {
  const document = makeDocument({ chunks: 250 });
  const bad = new Set(idsOf(document.chunks.slice(from, from + count)));
  const { run } = await startPlace([document], { unrendered: new Map([...bad].map((id) => [String(id), outOfRange])) });
  if (count === 100) return expect(run()).rejects.toThrow("year 20000 is out of range"); // nothing at the start can be read
  const { manifest, chunks } = await run();
  expect(manifest.documents[0]).toMatchObject({ status: "unstable", total: 250, chunk_count: 250 - count });
  expect(manifest.documents[0]?.error).toMatch(new RegExp(`^row ${from + 1} of chunks .*; and ${count - 5} more$`));
  expect(idsOf(chunks)).toEqual(idsOf(document.chunks).filter((id) => !bad.has(id)));
});

test("a document that is refused as a whole costs three requests", async () => {
  const document = makeDocument({ chunks: 150 });
  const error = { code: "document_archived", message: "The document is archived.", status: 400 };
  const behaviour = { documentError: new Map([[document.id, { status: 400, body: error }]]) };
  const { run, server } = await startPlace([document, makeDocument({ chunks: 1, seed: 2 })], behaviour);
  const { manifest } = await run();
  expect(manifest.documents[0]?.error).toMatch(/page=1&limit=100: 400 document_archived The document is archived\.$/);
  expect(server.requests.filter(({ path }) => path.includes(`/documents/${document.id}/`))).toHaveLength(3);
});

test("a service that can render nothing fails the document after a few requests", async () => {
  const document = makeDocument({ chunks: 150 });
  const unrendered = new Map(document.chunks.map(({ id }) => [id, outOfRange]));
  const { run, server } = await startPlace([document, makeDocument({ chunks: 1, seed: 2 })], { unrendered });
  const { manifest } = await run();
  expect(manifest.documents[0]).toMatchObject({ status: "failed", chunk_count: 0 });
  expect(manifest.documents[0]?.error).toContain("year 20000 is out of range");
  expect(server.requests.length).toBeLessThan(30);
});
