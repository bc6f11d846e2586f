import { expect, test } from "vitest";
import type { RunningService } from "../../src/demo/start-service.js";
import { inFull } from "../rounds.js";
import { ask, type Row, readAllRows, readRows, started } from "./ask.js";
import { sampleDatasets } from "./sample-datasets.js";
import { smallKnowledge, uuid } from "./small-knowledge.js";

const [product, handbook] = sampleDatasets();
const [guide = "", manual = "", , , answers = ""] = product?.documents ?? [];
const [, , announcements = "", , , interrupted = ""] = handbook?.documents ?? [];

/** A service with the sample data. Its clock shows `at` seconds after the start and does not run. */
async function demo() {
  let seconds = 0;
  const service = await started({ clock: () => new Date(1_750_000_000_000 + seconds * 1000) });
  const at = (passed: number) => {
    seconds = passed;
  };
  return { service, at };
}

function post(service: RunningService, path: string, headers: Record<string, string> = {}) {
  const url = service.url.replace(/\/v1$/, path);
  return fetch(url, { method: "POST", headers: { authorization: `Bearer ${service.key}`, ...headers } });
}

async function reindex(service: RunningService, document: string, query = "?seconds=40"): Promise<Row> {
  const response = await post(service, `/demo/reindex/${document}${query}`);
  expect(response.status).toBe(202);
  return (await response.json()) as Row;
}

const chunksOf = (service: RunningService, document: string, dataset = product?.id) =>
  readAllRows(service, `/datasets/${dataset}/documents/${document}/segments`);
const childrenOf = (service: RunningService, document: string, chunk: unknown) =>
  readAllRows(service, `/datasets/${product?.id}/documents/${document}/segments/${chunk}/child_chunks`);
const statusOf = (service: RunningService, batch: unknown, dataset = product?.id) =>
  readRows(service, `/datasets/${dataset}/documents/${encodeURIComponent(String(batch))}/indexing-status`);
const contentsOf = (rows: readonly Row[]) => rows.map(({ content }) => String(content));
const isEdited = ({ updated_by }: Row) => updated_by !== null;

test.runIf(inFull)("every chunk is a new one, and manual chunks and edits are lost", async () => {
  const { service, at } = await demo();
  const before = await chunksOf(service, manual);
  await reindex(service, manual);
  at(40);
  const after = await chunksOf(service, manual);
  const edited = before.filter(isEdited);
  expect(edited.length).toBeGreaterThan(30);
  expect(after).toHaveLength(before.length - Math.ceil(edited.length / 2));
  expect(after.map(({ position }) => position)).toEqual(after.map((_chunk, index) => index + 1));
  for (const field of ["id", "index_node_id"]) {
    expect(new Set([...before, ...after].map((row) => row[field])).size).toBe(before.length + after.length);
  }
  const fresh = { hit_count: 0, enabled: true, disabled_by: null, updated_by: null, status: "completed" };
  for (const chunk of after) expect(chunk).toMatchObject({ ...fresh, document_id: manual, created_at: 1_750_000_000 });
  const untouched = before.filter((chunk) => !isEdited(chunk));
  const [old, new_] = [new Set(contentsOf(before)), new Set(contentsOf(after))];
  for (const content of contentsOf(untouched)) expect(new_).toContain(content);
  for (const content of contentsOf(edited)) expect(new_).not.toContain(content);
  const changed = contentsOf(after).filter((content) => !old.has(content));
  expect(changed).toHaveLength(Math.floor(edited.length / 2));
  for (const text of changed) expect(contentsOf(edited).some((longer) => longer.startsWith(text))).toBe(true);
});

test("children are replaced too: manual ones are lost, and the rest is counted again", async () => {
  const { service, at } = await demo();
  const [first] = await chunksOf(service, guide);
  const before = await childrenOf(service, guide, first?.id);
  await reindex(service, guide);
  at(40);
  const [again] = await chunksOf(service, guide);
  const after = await childrenOf(service, guide, again?.id);
  const automatic = before.filter(({ type }) => type === "automatic");
  expect(automatic.length).toBeLessThan(before.length);
  expect(contentsOf(after)).toEqual(contentsOf(automatic));
  expect(after.map(({ position }) => position)).toEqual(after.map((_child, index) => index + 1));
  for (const child of after) expect(child).toMatchObject({ segment_id: again?.id, type: "automatic" });
  expect(again?.child_chunks).toEqual(after);
  expect(
    (await ask(service, `/datasets/${product?.id}/documents/${guide}/segments/${first?.id}/child_chunks`)).status,
  ).toBe(404);
});

test.runIf(inFull)("of questions and answers the question stays and the answer loses its edit", async () => {
  const { service, at } = await demo();
  const before = await chunksOf(service, answers);
  await reindex(service, answers);
  at(40);
  const old = new Map(before.map((chunk) => [chunk.answer, chunk]));
  const changed = (await chunksOf(service, answers)).filter(({ answer }) => !old.has(answer));
  expect(changed.length).toBe(Math.floor(before.filter(isEdited).length / 2));
  for (const { content, answer } of changed) {
    expect(answer).not.toBe("");
    const source = before.find((chunk) => chunk.content === content && String(chunk.answer).startsWith(String(answer)));
    expect(source).toSatisfy(isEdited);
  }
});

test.runIf(inFull)("the batch goes through the stages of a real service, with counts that grow", async () => {
  const { service, at } = await demo();
  const { batch, ...begun } = await reindex(service, manual);
  expect(begun).toEqual({ dataset_id: product?.id, document_id: manual });
  expect(batch).toBe("20250615150640000001");
  const total = (await chunksOf(service, manual)).length - 19;
  const readings: Row[] = [];
  for (let second = 0; second <= 41; second++) {
    at(second);
    readings.push(...(await statusOf(service, batch)));
  }
  expect(readings).toHaveLength(42);
  expect([...new Set(readings.map((entry) => entry.indexing_status))]).toEqual([
    "waiting",
    "parsing",
    "cleaning",
    "splitting",
    "indexing",
    "completed",
  ]);
  const counts = (field: string) => readings.map((entry) => Number(entry[field]));
  for (const field of ["completed_segments", "total_segments"]) {
    expect(counts(field)).toEqual(counts(field).toSorted((a, b) => a - b));
    expect(new Set(counts(field)).size).toBeGreaterThan(5);
  }
  expect(readings[0]).toMatchObject({
    id: manual,
    completed_segments: 0,
    total_segments: 0,
    processing_started_at: null,
  });
  expect(readings[11]).toMatchObject({ completed_segments: 0, total_segments: 0, splitting_completed_at: null });
  expect(readings[21]).toMatchObject({ indexing_status: "indexing", total_segments: total, completed_at: null });
  expect(readings[41]).toMatchObject({
    processing_started_at: 1_750_000_004,
    splitting_completed_at: 1_750_000_020,
    completed_at: 1_750_000_040,
    completed_segments: total,
    total_segments: total,
    error: null,
  });
});

test.runIf(inFull)("during it, the old chunks are replaced, and the new ones appear and are indexed", async () => {
  const { service, at } = await demo();
  await reindex(service, manual);
  const moments: [number, Readonly<Record<string, number>>, string][] = [
    [0, { re_segment: 740 }, "waiting"],
    [6, { re_segment: 740 }, "parsing"],
    [10, {}, "cleaning"],
    [16, { waiting: 360 }, "splitting"],
    [30, { completed: 360, indexing: 361 }, "indexing"],
    [40, { completed: 721 }, "completed"],
  ];
  for (const [seconds, expected, stage] of moments) {
    at(seconds);
    const counts: Record<string, number> = {};
    for (const { status } of await chunksOf(service, manual))
      counts[String(status)] = (counts[String(status)] ?? 0) + 1;
    expect(counts, stage).toEqual(expected);
    const documents = await readAllRows(service, `/datasets/${product?.id}/documents`);
    expect(documents.find(({ id }) => id === manual)).toMatchObject({
      indexing_status: stage,
      name: "User manual.pdf",
    });
  }
});

test.runIf(inFull)("the other documents, the counts and the other service stay as they are", async () => {
  const [{ service, at }, other] = [await demo(), await demo()];
  const before = await chunksOf(service, guide);
  await reindex(service, manual);
  at(40);
  expect(contentsOf(await chunksOf(service, guide))).toEqual(contentsOf(before));
  expect(await chunksOf(other.service, manual)).toHaveLength(740);
  const [one, more] = await Promise.all(
    [service, other.service].map((each) => readAllRows(each, `/datasets/${product?.id}/documents`)),
  );
  expect(one?.map(({ id }) => id)).toEqual(more?.map(({ id }) => id));
});

test.runIf(inFull)(
  "a second time makes other ids again, always the same ones; and not before the first is over",
  async () => {
    const ids = async () => {
      const { service, at } = await demo();
      const { batch } = await reindex(service, manual);
      at(39);
      const early = await post(service, `/demo/reindex/${manual}`);
      expect(early.status).toBe(400);
      expect(await early.json()).toEqual({
        code: "document_indexing",
        message: "Cannot operate document during indexing.",
        status: 400,
      });
      at(40);
      const first = await chunksOf(service, manual);
      const second = await reindex(service, manual, "?seconds=0");
      expect(second.batch).not.toBe(batch);
      const again = await chunksOf(service, manual);
      expect(contentsOf(again)).toEqual(contentsOf(first));
      for (const each of [batch, second.batch]) {
        expect(await statusOf(service, each)).toMatchObject([{ indexing_status: "completed", total_segments: 721 }]);
      }
      return [...first, ...again].map(({ id }) => id);
    };
    const all = await ids();
    expect(new Set(all).size).toBe(2 * 721);
    expect(await ids()).toEqual(all);
  },
);

test("an old batch returns the current state of the document, and still counts its reads", async () => {
  const { service } = await demo();
  const [old = "", failed = ""] = [product?.batches[0], handbook?.batches[1]];
  expect((await statusOf(service, old)).find(({ id }) => id === manual)).toMatchObject({
    indexing_status: "completed",
  });
  await reindex(service, manual);
  const entries = await statusOf(service, old);
  expect(entries.find(({ id }) => id === manual)).toMatchObject({ indexing_status: "waiting" });
  expect(entries.filter((entry) => entry.indexing_status === "completed")).toHaveLength(3);
  await reindex(service, interrupted, "?seconds=0");
  const repaired = (await statusOf(service, failed, handbook?.id)).find(({ id }) => id === interrupted);
  expect(repaired).toMatchObject({
    indexing_status: "completed",
    error: null,
    completed_segments: 56,
    total_segments: 56,
  });
});

test("a document without chunks is also completed", async () => {
  const { service } = await demo();
  const { batch } = await reindex(service, announcements, "?seconds=0");
  expect(await statusOf(service, batch, handbook?.id)).toMatchObject([
    { id: announcements, indexing_status: "completed", completed_segments: 0, total_segments: 0 },
  ]);
});

test("plain text is only the batch", async () => {
  const { service } = await demo();
  const response = await post(service, `/demo/reindex/${manual}`, { accept: "text/plain" });
  expect(await response.text()).toBe("20250615150640000001\n");
});

test("a wrong key, document or time is refused, and nothing starts", async () => {
  const { service } = await demo();
  const cases: [string, Record<string, string>, number, string][] = [
    [`/demo/reindex/${manual}`, { authorization: "Bearer other" }, 401, "unauthorized"],
    [`/demo/reindex/${uuid(9)}`, {}, 404, "not_found"],
    ["/demo/reindex/x", {}, 404, "not_found"],
    [`/demo/reindex/${manual}?seconds=-1`, {}, 400, "invalid_param"],
    [`/demo/reindex/${manual}?seconds=abc`, {}, 400, "invalid_param"],
    [`/demo/reindex/${manual}?seconds=31536000`, {}, 400, "invalid_param"],
  ];
  for (const [path, headers, status, code] of cases) {
    const response = await post(service, path, headers);
    expect({ path, status: response.status }).toEqual({ path, status });
    expect(await response.json()).toMatchObject({ code, status });
  }
  expect(await chunksOf(service, manual)).toHaveLength(740);
});

test.runIf(inFull)("only POST, only beside the interface, and only for the sample data", async () => {
  const { service } = await demo();
  const read = await fetch(service.url.replace(/\/v1$/, `/demo/reindex/${manual}`));
  expect({ status: read.status, allow: read.headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
  expect((await ask(service, `/demo/reindex/${manual}`, { method: "POST" })).status).toBe(404);
  const plain = await started({ knowledge: smallKnowledge([{}]) });
  expect((await post(plain, `/demo/reindex/${uuid(2)}`)).status).toBe(404);
});
