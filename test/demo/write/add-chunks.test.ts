import { describe, expect, it, test } from "vitest";
import { accounts } from "../../../src/demo/rows.js";
import { read, rowsFrom } from "../ask.js";
import { datasetId, documentId, segments, uuid } from "../small-knowledge.js";
import { documentRow, refused, send, start, startWriting } from "./writing.js";

const qa = { form: "qa_model", technique: "high_quality" };

test("chunks are added unchanged after the highest position", async () => {
  const { send, list } = await startWriting([{ position: 3 }, { position: 9 }, { position: 4 }]);
  const content = " \t= Ünï\r\n<|cödé|> 😀 ";
  const { status, body } = await send("POST", "", {
    segments: [{ content, keywords: ["a", "b"] }, { content: "second" }],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    doc_form: "text_model",
    data: [
      { content, sign_content: content, position: 10, keywords: ["a", "b"] },
      { content: "second", position: 11, keywords: [] },
    ],
  });
  expect((await list()).slice(3)).toEqual(body.data);
  expect(new Set((await list()).map(({ id }) => id)).size).toBe(5);
});

test("an added chunk is completed, enabled and never hit, with author and time", async () => {
  const { send } = await startWriting([]);
  const { body } = await send("POST", "", { segments: [{ content: "first", keywords: null }] });
  expect(body.data).toMatchObject([
    {
      ...{ position: 1, document_id: documentId, status: "completed", enabled: true, hit_count: 0, keywords: [] },
      ...{ created_by: accounts.owner, created_at: start, updated_by: null, disabled_by: null, error: null },
      ...{ index_node_id: expect.stringMatching(/^[0-9a-f-]{36}$/), answer: "", attachments: [], child_chunks: [] },
    },
  ]);
});

test("tokens are counted in high-quality datasets only, and the rows of the document and the dataset follow", async () => {
  const economy = await startWriting([]);
  const highQuality = await startWriting([], qa);
  const segment = { content: "twelve chars", answer: "and nine." };
  for (const [writing, counts] of [
    [economy, { word_count: 12, tokens: 0 }],
    [highQuality, { word_count: 21, tokens: 7 }],
  ] as const) {
    const { body } = await writing.send("POST", "", { segments: [segment] });
    expect(body.data).toMatchObject([counts]);
    expect(documentRow(writing)).toMatchObject({ ...counts, segment_count: 1 });
    const details = await read(writing.service, `/datasets/${datasetId}/documents/${documentId}`);
    expect(details).toMatchObject({ ...counts, segment_count: 1 });
    expect(await read(writing.service, `/datasets/${datasetId}`)).toMatchObject({ word_count: counts.word_count });
  }
});

test("sending the same request twice adds the chunks twice", async () => {
  const { send, list } = await startWriting([]);
  for (let times = 0; times < 2; times++) await send("POST", "", { segments: [{ content: "again" }] });
  expect((await list()).map(({ content, position }) => [content, position])).toEqual([
    ["again", 1],
    ["again", 2],
  ]);
});

test("files named in an addition are ignored, and the answer counts only in qa_model documents", async () => {
  const { send } = await startWriting([]);
  const { body } = await send("POST", "", { segments: [{ content: "x", answer: "y", attachment_ids: [uuid(7)] }] });
  expect(body.data).toMatchObject([{ attachments: [], answer: "" }]);
});

describe("a refused addition", () => {
  const good = { content: "good", answer: "good" };
  it.each([
    ["blank content", {}, { content: " \n" }, "Content is empty"],
    ["no content", {}, {}, "Content is empty"],
    ["no answer", qa, { content: "x" }, "Answer is required"],
    ["an answer that is no text at all", qa, { content: "x", answer: "" }, "Answer is required"],
    ["a blank answer", qa, { content: "x", answer: "  " }, "Answer is empty"],
    ["content that is no text", {}, { content: 5 }, "segments[1].content: got 5, expected a text"],
    [
      "keywords that are no list",
      {},
      { content: "x", keywords: "a" },
      'segments[1].keywords: got "a", expected a list',
    ],
  ])("stores nothing: %s", async (_name, shape, bad, message) => {
    const { send, list } = await startWriting([{}], shape);
    expect(await send("POST", "", { segments: [good, bad] })).toMatchObject(refused(message));
    expect(await list()).toHaveLength(1);
  });

  it("has more chunks than a request may have", async () => {
    const { send, list } = await startWriting([], {}, { maxPerRequest: 2 });
    const add = (count: number) => send("POST", "", { segments: Array.from({ length: count }, () => good) });
    expect(await add(3)).toMatchObject(refused("Exceeded maximum segments limit of 2."));
    expect(await list()).toEqual([]);
    expect((await add(2)).status).toBe(200);
  });

  it.each([
    [{ indexing_status: "indexing" }, "Document is not completed."],
    [{ indexing_status: "error", enabled: false }, "Document is not completed."],
    [{ enabled: false }, "Document is disabled."],
  ])("is for a document that is not ready: %o", async (fields, message) => {
    const { demo, send, list } = await startWriting([]);
    demo.store.setFields(documentId, fields);
    expect(await send("POST", "", { segments: [good] })).toMatchObject(refused(message, 404, "not_found"));
    expect(await list()).toEqual([]);
  });

  it("is for an unknown dataset or document", async () => {
    const { service } = await startWriting([]);
    const body = { segments: [good] };
    for (const [path, message] of [
      [segments.replace(datasetId, uuid(9)), "Dataset not found."],
      [segments.replace(documentId, uuid(9)), "Document not found."],
    ] as const)
      expect(await send(service, "POST", path, body)).toMatchObject(refused(message, 404, "not_found"));
  });
});

test("if indexing fails, the answer is 200: all chunks of the request are stored, disabled, with the error", async () => {
  const { send, list } = await startWriting([{}], {}, { embeddingFails: (content) => content === "bad" });
  const { status, body } = await send("POST", "", { segments: [{ content: "good" }, { content: "bad" }] });
  const failed = {
    ...{ status: "error", enabled: false, disabled_at: start, disabled_by: null },
    error: "Embedding failed: the model did not answer",
  };
  expect(status).toBe(200);
  expect(body.data).toMatchObject([
    { content: "good", ...failed },
    { content: "bad", ...failed },
  ]);
  expect((await list()).slice(1)).toEqual(body.data);
});

describe("a new parent", () => {
  const body = { segments: [{ content: "First sentence. Second one!\nThird" }] };
  const contents = ["First sentence.", "Second one!", "Third"];

  it("gets children in a high-quality dataset, and embeds them if its document does", async () => {
    for (const embedsChildren of [true, false]) {
      const shape = { form: "hierarchical_model", technique: "high_quality", embedsChildren };
      const { send, list } = await startWriting([], shape);
      await send("POST", "", body);
      const [parent] = await list();
      const children = rowsFrom((await send("GET", `/${parent?.id}/child_chunks`)).body.data);
      expect(children.map(({ content }) => content)).toEqual(contents);
      expect(children.map(({ position }) => position)).toEqual([1, 2, 3]);
      for (const child of children) expect(child).toMatchObject({ type: "automatic", segment_id: parent?.id });
      expect(parent?.child_chunks).toEqual(embedsChildren ? children : []);
    }
  });

  it("gets none elsewhere", async () => {
    for (const shape of [{ form: "hierarchical_model" }, { technique: "high_quality" }]) {
      const { demo, send } = await startWriting([], shape);
      await send("POST", "", body);
      expect(demo.store.read(documentId).chunks).toMatchObject([{ children: [] }]);
    }
  });
});

test("the chunks exist before a slow answer arrives", async () => {
  const { send, list } = await startWriting([], {}, { delay: 200 });
  let isAnswered = false;
  const answer = send("POST", "", { segments: [{ content: "slow" }] }).then(() => {
    isAnswered = true;
  });
  await expect.poll(list).toHaveLength(1);
  expect(isAnswered).toBe(false);
  await answer;
});

test("an answer takes longer for each chunk that is embedded", async () => {
  const { send } = await startWriting([], {}, { delay: 20, embeddingMilliseconds: 30 });
  const begun = performance.now();
  await send("POST", "", { segments: Array.from({ length: 5 }, () => ({ content: "slow" })) });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(169);
});
