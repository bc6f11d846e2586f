import { expect, test } from "vitest";
import { Prefetch } from "../../../src/crawl/prefetch.js";
import { findMovedDocuments } from "../../../src/segments/read-documents.js";
import { inFull } from "../../rounds.js";
import { idsOf, startPlace } from "../../run/documents/proving.js";
import { addChunks, deleteChunks } from "../../servers/edits.js";
import { makeDocument } from "../../servers/store.js";

const isList = (path: string) => path.endsWith("/documents");

/** A dataset with two documents; `edit` runs once, before the list is read a second time. */
async function startListed(
  edit: () => void,
  documents = [makeDocument({ chunks: 20, seed: 1 }), makeDocument({ chunks: 20, seed: 2 })],
) {
  const place = await startPlace(documents);
  const { server, dataset } = place;
  let listed = 0;
  server.behaviour.onRequest = ({ path }) => {
    if (isList(path) && ++listed === 2) edit();
  };
  const all = { child_chunks: "none", datasets: [{ id: dataset.id, documents: "all" }] };
  return { ...place, documents, runAll: () => place.run(all) };
}

test("a document that is longer when the run lists it again is read once more", async () => {
  const documents = [makeDocument({ chunks: 20, seed: 1 }), makeDocument({ chunks: 20, seed: 2 })];
  const [first] = documents;
  const { runAll, server } = await startListed(() => first && addChunks(first, 3, { seed: 9 }), documents);
  const { manifest, chunks } = await runAll();
  expect(manifest).toMatchObject({ status: "complete", counts: { chunks: 43 }, warnings: [] });
  const read = chunks.filter(({ document_id }) => document_id === first?.id);
  expect(idsOf(read)).toEqual(idsOf(first?.chunks ?? []));
  expect(server.requests.filter(({ path }) => path.endsWith("/segments"))).toHaveLength(3);
  expect(server.requests.filter(({ path }) => isList(path))).toHaveLength(2);
});

test.runIf(inFull)(
  "a document that cannot be read whole the second time stays as it was read the first time",
  async () => {
    const documents = [makeDocument({ chunks: 150, seed: 1 }), makeDocument({ chunks: 20, seed: 2 })];
    const [first] = documents;
    const before = idsOf(first?.chunks ?? []);
    const { runAll, server } = await startListed(() => first && deleteChunks(first, 0, 1), documents);
    const { onRequest } = server.behaviour;
    let isEdited = false;
    server.behaviour.onRequest = (request, store) => {
      if (isList(request.path) && request.nth === 1) isEdited = true;
      onRequest?.(request, store);
      if (isEdited && request.query.startsWith("page=2&") && first) deleteChunks(first, 0, 1);
    };
    const { manifest, chunks } = await runAll();
    expect(manifest).toMatchObject({ status: "complete", counts: { chunks: 170 } });
    expect(idsOf(chunks.filter(({ document_id }) => document_id === first?.id))).toEqual(before);
  },
);

test("a second list that cannot be read is a warning, and the run is complete", async () => {
  const { runAll, server } = await startListed(() => {});
  server.behaviour.faults = ({ path }, nth) =>
    isList(path) && nth > 0 ? { kind: "status", status: 403, body: "json" } : undefined;
  const { manifest } = await runAll();
  expect(manifest.status).toBe("complete");
  expect(manifest.warnings).toEqual([
    expect.stringMatching(/^the documents of dataset \S+ could not be listed again, .*: GET .* 403/),
  ]);
});

test("documents that the job names are not listed", async () => {
  const { run, server } = await startPlace([makeDocument({ chunks: 1 })]);
  await run();
  expect(server.requests.filter(({ path }) => isList(path))).toEqual([]);
});

test("reading a list that repeats itself and counts too many ends", async () => {
  let asked = 0;
  const documents = async () => {
    asked++;
    return { rows: [{ id: "d", word_count: 2 }], total: 1e12, docForm: null };
  };
  const listings = [{ dataset_id: "s", name: null, state: "unsettled" as const, documents: 1 }];
  const rows = [{ document_id: "d", word_count: 1 }];
  const found = { rows, listings, allDatasets: undefined, failures: [], notes: [], drift: {}, pages: 1 };
  const { ids } = await findMovedDocuments({ documents }, { datasets: [], found }, new Prefetch(2));
  expect([...ids]).toEqual(["d"]);
  expect(asked).toBeLessThan(10);
});

test("a second reading that an earlier process finished is not read again", async () => {
  const documents = [makeDocument({ chunks: 20, seed: 1 }), makeDocument({ chunks: 120, seed: 2 })];
  const [, second] = documents;
  const { run, dataset, server } = await startListed(() => second && addChunks(second, 1, { seed: 9 }), documents);
  dataset.batches.set("2026", []);
  const job = { child_chunks: "none", datasets: [{ id: dataset.id, documents: "all", batches: ["2026"] }] };
  server.behaviour.faults = ({ path }, nth) =>
    path.endsWith("/indexing-status") && nth === 1 ? { kind: "status", status: 401, body: "json" } : undefined;
  await expect(run(job)).rejects.toThrow("401");
  server.reset();
  const { manifest, chunks } = await run(job);
  expect(manifest).toMatchObject({ status: "complete", counts: { chunks: 141 } });
  expect(idsOf(chunks.filter(({ document_id }) => document_id === second?.id))).toEqual(idsOf(second?.chunks ?? []));
  expect(server.requests.filter(({ path }) => path.endsWith("/segments"))).toEqual([]);
});

test.runIf(inFull)(
  "--retry-failed: a first reading that is newer than the second one of an earlier run counts",
  async () => {
    const documents = [makeDocument({ chunks: 149, seed: 1 }), makeDocument({ chunks: 20, seed: 2 })];
    const [first, other] = documents;
    const { run, dataset, server } = await startPlace(documents);
    const job = { child_chunks: "none", datasets: [{ id: dataset.id, documents: "all" }] };
    let lists = 0;
    server.behaviour.onRequest = ({ path, query }) => {
      if (isList(path)) lists++;
      const isFirst = path.includes(`/documents/${first?.id}/`) && query.startsWith("page=2&");
      if (isFirst && lists === 1 && first) first.chunks.splice(0, 0, ...first.chunks.splice(-1)); // the order differs in every reading
      if (isFirst && lists === 1 && first) deleteChunks(first, 0, 1);
    };
    server.behaviour.faults = ({ path }) =>
      path.includes(`/documents/${other?.id}/`) ? { kind: "status", status: 404, body: "json" } : undefined;
    const before = await run(job);
    expect(before.manifest.documents).toEqual(
      expect.arrayContaining([expect.objectContaining({ document_id: first?.id, status: "complete" })]),
    );
    delete server.behaviour.faults;
    delete server.behaviour.onRequest;
    if (first) addChunks(first, 10, { seed: 9 });
    const { manifest, chunks } = await run(job, { retryFailed: true });
    expect(manifest.status).toBe("complete");
    expect(idsOf(chunks.filter(({ document_id }) => document_id === first?.id))).toEqual(idsOf(first?.chunks ?? []));
  },
);

test.runIf(inFull)("a run interrupted while it rereads a changed document resumes there", async () => {
  const documents = [makeDocument({ chunks: 20, seed: 1 }), makeDocument({ chunks: 320, seed: 2 })];
  const [, second] = documents;
  const { runAll, server } = await startListed(() => second && addChunks(second, 1, { seed: 9 }), documents);
  server.behaviour.faults = ({ path, query }) =>
    path.includes(`/documents/${second?.id}/`) && query.startsWith("page=3&") && second?.chunks.length === 321
      ? { kind: "status", status: 401, body: "json" }
      : undefined;
  await expect(runAll()).rejects.toThrow("401");
  delete server.behaviour.faults;
  server.reset();
  const { manifest, chunks } = await runAll();
  expect(manifest).toMatchObject({ status: "complete", counts: { chunks: 341 } });
  expect(idsOf(chunks.filter(({ document_id }) => document_id === second?.id))).toEqual(idsOf(second?.chunks ?? []));
  expect(server.requests.filter(({ path }) => path.includes(`/documents/${documents[0]?.id}/`))).toEqual([]);
});
