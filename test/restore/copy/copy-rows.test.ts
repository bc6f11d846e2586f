import { expect, test } from "vitest";
import { deadUrl } from "../../client/serve.js";
import { openTestWriter } from "../../client/write/open-test-writer.js";
import { inFull } from "../../rounds.js";
import { plain, rowsFrom, startCopy, uuid } from "./start-copy.js";

const nothing = { failed: [], reason: null };

test("chunks come in order, word for word, in requests that grow", async () => {
  const copy = await startCopy();
  const rows = plain(130);
  expect(await copy.run(rows)).toEqual(nothing);
  expect(copy.texts()).toEqual(rows.chunks.map(({ content }) => content));
  expect(copy.chunks().map(({ position }) => position)).toEqual(rows.chunks.map(({ position }) => position));
  expect(copy.sent()).toEqual(["add 20", "add 40", "add 70"]);
  expect(copy.seen.filter(({ method }) => method === "GET")).toHaveLength(1);
  expect(copy.progress).toMatchObject({ chunksDone: 130, writes: 3 });
});

test("the requests for a small document have these bodies, and no others are sent", async () => {
  const copy = await startCopy();
  await copy.run(
    rowsFrom([
      { content: "\ufeff## one\u0000\r\n", keywords: ["a", "b"] },
      { content: " two ", answer: "", keywords: [] },
      { content: "three", enabled: false, keywords: ["c"] },
    ]),
  );
  const [one, two, three] = copy.chunks().map(({ id }) => id);
  expect([one, two, three].every((id) => typeof id === "string")).toBe(true);
  expect(copy.writes()).toEqual([
    {
      what: "POST …/segments",
      body: {
        segments: [
          { content: "\ufeff## one\u0000\r\n", keywords: ["a", "b"] },
          { content: " two " },
          { content: "three", keywords: ["c"] },
        ],
      },
    },
    {
      what: `POST …/segments/${three}`,
      body: { segment: { content: "three", keywords: ["c"], enabled: false, attachment_ids: [] } },
    },
  ]);
  expect(copy.chunks().map(({ enabled }) => enabled)).toEqual([true, true, false]);
});

test("questions come with their answers", async () => {
  const copy = await startCopy({ form: "qa_model" });
  const rows = rowsFrom([{ answer: "yes" }, { answer: "no", enabled: false }], "qa_model");
  expect(await copy.run(rows)).toEqual(nothing);
  expect(copy.chunks().map(({ answer, enabled }) => [answer, enabled])).toEqual([
    ["yes", true],
    ["no", false],
  ]);
  expect(copy.progress.chunksDone).toBe(2);
});

test("the journal notes the places and the ids of chunks", async () => {
  const copy = await startCopy();
  await copy.run(plain(25));
  const ids = copy.chunks().map(({ id }) => id);
  const facts = { write: "add chunks", dataset_id: uuid(49), document_id: uuid(50) };
  expect(copy.noted.filter(({ kind }) => kind !== "begun" && kind !== "sent")).toMatchObject([
    { kind: "intent", ...facts, first: 0, rows: 20 },
    { kind: "outcome", outcome: "done", ids: ids.slice(0, 20) },
    { kind: "intent", ...facts, first: 20, rows: 5 },
    { kind: "outcome", outcome: "done", ids: ids.slice(20) },
  ]);
});

test("the cap of the service is learned from its refusal", async () => {
  const copy = await startCopy({ maxPerRequest: 8 });
  expect(await copy.run(plain(17))).toEqual(nothing);
  expect(copy.sent()).toEqual(["add 17", "add 8", "add 8", "add 1"]);
});

test("slow answers make requests smaller", async () => {
  const times = [25_000, 25_000, 0];
  const copy = await startCopy({
    faultOf: ({ method }) => {
      if (method === "POST") copy.clock.sleep(times.shift() ?? 10_000);
      return undefined;
    },
  });
  await copy.run(plain(55));
  expect(copy.sent()).toEqual(["add 20", "add 10", "add 5", "add 10", "add 10"]);
});

test("waits of the pace make no request smaller", async () => {
  let refusals = 2;
  const copy = await startCopy({
    faultOf: ({ method }) =>
      method === "POST" && refusals-- > 0 ? { status: 429, message: "Too many", retryAfter: 30 } : undefined,
  });
  expect(await copy.run(plain(50))).toEqual(nothing);
  expect(copy.clock.waits.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(60_000);
  expect(copy.sent()).toEqual(["add 20", "add 20", "add 20", "add 30"]);
});

test("a chunk that the service refuses is named with its words, and the others come", async () => {
  const copy = await startCopy({
    faultOf: ({ body }) => (body.includes("chunk 6") ? { status: 400, message: "Not this one" } : undefined),
  });
  const { failed, reason } = await copy.run(plain(12));
  expect([failed.length, reason]).toEqual([1, null]);
  expect(failed[0]).toMatchObject({
    level: "chunk",
    id: uuid(106),
    position: 6,
    reason: expect.stringContaining("Not this one"),
  });
  expect(copy.texts()).toEqual(plain(12).chunks.flatMap(({ content }) => (content === "chunk 6" ? [] : [content])));
  expect(copy.sent()).toEqual(["add 12", "add 6", "add 3", "add 1", "add 1", "add 1", "add 6"]);
  expect(copy.progress.chunksDone).toBe(11);
});

test("chunks that fail here and there do not end the document", async () => {
  const copy = await startCopy({
    faultOf: ({ body }) => (body.includes("bad") ? { status: 400, message: "Not this one" } : undefined),
  });
  const rows = rowsFrom(Array.from({ length: 24 }, (_, at) => ({ content: at % 2 === 0 ? "bad" : "good" })));
  const { failed, reason } = await copy.run(rows);
  expect([failed.length, reason, copy.texts()]).toEqual([12, null, Array(12).fill("good")]);
});

test("a request that the service breaks off makes the next ones smaller, until they grow again", async () => {
  const broken = { status: 500, message: "Boom", code: "internal" };
  const copy = await startCopy({ faultOf: (_, write) => (write === 1 || write === 2 ? broken : undefined) });
  expect(await copy.run(plain(60))).toEqual(nothing);
  expect(copy.sent()).toEqual(["add 20", "add 10", "add 5", "add 10", "add 20", "add 25"]);
});

test("a chunk that the service breaks off three times is named, and the others come", async () => {
  const copy = await startCopy({
    faultOf: ({ body }) => (body.includes("chunk 3") ? { status: 500, message: "Boom", code: "internal" } : undefined),
  });
  const { failed, reason } = await copy.run(plain(4));
  expect([failed, reason]).toEqual([
    [expect.objectContaining({ id: uuid(103), reason: expect.stringContaining("Boom") })],
    null,
  ]);
  expect(copy.texts()).toEqual(["chunk 1", "chunk 2", "chunk 4"]);
  expect(copy.sent()).toEqual(["add 4", "add 2", "add 2", "add 1", "add 1", "add 1", "add 1"]);
});

test("a request that the service breaks off becomes smaller while another faulty chunk is looked for", async () => {
  const copy = await startCopy({
    faultOf: ({ body }, write) => {
      if (body.includes('"chunk 15"') || write > 60) return { status: 400, message: "Not this one" };
      return body.includes('"chunk 3"') ? { status: 500, message: "Boom", code: "internal" } : undefined;
    },
  });
  const { failed, reason } = await copy.run(plain(20));
  expect([failed.map(({ id }) => id), reason]).toEqual([[uuid(103), uuid(115)], null]);
  expect(copy.texts()).toHaveLength(18);
  expect(copy.sent().slice(0, 4)).toEqual(["add 20", "add 10", "add 5", "add 2"]);
});

test("a service that is away for some seconds is waited for, and no longer than a minute", async () => {
  const copy = await startCopy();
  const dead = openTestWriter(await deadUrl());
  const there = openTestWriter(copy.url, { key: copy.key });
  let refused = 3;
  const addChunks: typeof dead.addChunks = (...chunks) => {
    const [unsent, sent] = [dead.addChunks(...chunks), there.addChunks(...chunks)];
    return { ...sent, send: (hooks) => (refused-- > 0 ? unsent : sent).send(hooks) };
  };
  const writer = { ...there, addChunks };
  expect(await copy.run(plain(3), {}, { writer })).toEqual(nothing);
  refused = 100;
  const { reason } = await copy.run(plain(5), {}, { writer });
  expect(reason).toMatch(/^the service accepts no requests: .*/);
  expect(copy.clock.waits).toEqual([1_000, 2_000, 4_000, 1_000, 2_000, 4_000, 8_000, 16_000]);
});

test("a service that refuses everything is not asked for every chunk", async () => {
  const copy = await startCopy({
    faultOf: ({ method }) => (method === "POST" ? { status: 400, message: "No model" } : undefined),
  });
  const { failed, reason } = await copy.run(plain(500));
  expect(failed).toHaveLength(3);
  expect(reason).toMatch(/^3 chunks in a row failed, so the others were not sent; the last one: .*No model/);
  expect(copy.sent().length).toBeLessThan(60);
});

test("a service that stores every chunk and indexes none, for one reason, is not sent all of them", async () => {
  const copy = await startCopy({ embeddingFails: () => true });
  const { failed, reason } = await copy.run(plain(95));
  expect(failed).toHaveLength(3);
  expect(reason).toMatch(/^3 chunks in a row failed, .*could not index it: Embedding failed/);
  expect([copy.texts(), copy.sent().length < 160]).toEqual([[], true]);
});

test.runIf(inFull)(
  "chunks that cannot be indexed end a document that others came of only after ten in a row",
  async () => {
    const copy = await startCopy({ embeddingFails: (content) => /^chunk ([2-9]|10)$/.test(content) });
    const { failed, reason } = await copy.run(plain(12));
    expect([failed.length, reason]).toEqual([9, null]);
    expect(copy.texts()).toEqual(["chunk 1", "chunk 11", "chunk 12"]);
  },
);

test.each(["Document is disabled.", "Dataset is being indexed."])(
  "the document is given up where the service says: %s",
  async (message) => {
    const copy = await startCopy({
      faultOf: ({ method }) => (method === "POST" ? { status: 404, message } : undefined),
    });
    const { failed, reason } = await copy.run(plain(5));
    expect(failed).toEqual([]);
    expect(reason).toMatch(/^the service accepts no writes to this document: .*/);
    expect(copy.sent()).toEqual(["add 5"]);
  },
);

test("chunks that the service stored and could not index are sent again, and the order stays", async () => {
  let failing = 2;
  const copy = await startCopy({ embeddingFails: (content) => content === "chunk 3" && failing-- > 0 });
  expect(await copy.run(plain(4))).toEqual(nothing);
  expect(copy.texts()).toEqual(["chunk 1", "chunk 2", "chunk 3", "chunk 4"]);
  expect(copy.chunks().map(({ status, enabled }) => [status, enabled])).toEqual(Array(4).fill(["completed", true]));
});

test("a chunk that has to go is not taken for gone because of a 404 that does not come from the service", async () => {
  let [failing, away] = [1, 2];
  const copy = await startCopy({
    embeddingFails: (content) => content === "chunk 2" && failing-- > 0,
    faultOf: ({ method }) =>
      method === "DELETE" && away-- > 0 ? { status: 404, code: "", message: "404 page not found" } : undefined,
  });
  expect(await copy.run(plain(3))).toEqual(nothing);
  expect(copy.texts()).toEqual(["chunk 1", "chunk 2", "chunk 3"]);
});

test("a chunk that cannot be indexed three times by itself is deleted again and named, and the others are copied", async () => {
  const copy = await startCopy({ embeddingFails: (content) => content === "chunk 2" });
  const { failed, reason } = await copy.run(plain(3));
  expect(reason).toBeNull();
  expect(failed).toMatchObject([
    { id: uuid(102), reason: expect.stringMatching(/could not index it: Embedding failed/) },
  ]);
  expect(copy.texts()).toEqual(["chunk 1", "chunk 3"]);
  expect(copy.sent().filter((what) => what === "add 1")).toHaveLength(1 + 3 + 1);
  expect(copy.clock.waits).toEqual([2_000, 2_000]);
});

test("a chunk that accepts no change yet is disabled later, and does not delay the others", async () => {
  let refusals = 2;
  const copy = await startCopy({
    faultOf: ({ body }) =>
      body.includes('"enabled":false') && refusals-- > 0
        ? { status: 400, message: "Segment is indexing, please try again later" }
        : undefined,
  });
  const rows = rowsFrom([{ enabled: false }, ...Array.from({ length: 20 }, () => ({}))]);
  expect(await copy.run(rows)).toEqual(nothing);
  expect(copy.chunks().map(({ enabled }) => enabled)).toEqual([false, ...Array(20).fill(true)]);
  expect(
    copy
      .sent()
      .slice(0, 3)
      .map((what) => what.slice(0, 6)),
  ).toEqual(["add 20", "POST /", "add 1"]);
  expect(copy.clock.waits).toEqual([10_000, 20_000]);
  expect(copy.progress.chunksDone).toBe(21);
});

test("a chunk that can never be disabled is named", async () => {
  const copy = await startCopy({
    faultOf: ({ body }) =>
      body.includes('"enabled":false')
        ? { status: 400, message: "Segment is indexing, please try again later" }
        : undefined,
  });
  const { failed } = await copy.run(rowsFrom([{ enabled: false }]));
  expect(failed).toMatchObject([
    { id: uuid(101), reason: expect.stringMatching(/^it is there, but could not be disabled: .*indexing/) },
  ]);
  expect(copy.clock.waits.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(660_000);
  expect(copy.progress.chunksDone).toBe(0);
});
