import { hash } from "node:crypto";
import { describe, expect, it, test } from "vitest";
import { accounts } from "../../../src/demo/rows.js";
import { type ChunkSketch, documentId, uuid } from "../small-knowledge.js";
import { documentRow, refused, start, startWriting, type Writing } from "./writing.js";

const [first, second] = [uuid(101), uuid(102)];
const whole: ChunkSketch = {
  ...{ content: "before", sign_content: "before", answer: "", keywords: ["k"], word_count: 6, tokens: 2 },
  ...{ enabled: true, disabled_at: null, disabled_by: null, updated_at: 1, updated_by: null, error: null },
};
const highQuality = { technique: "high_quality" };
const qa = { form: "qa_model", technique: "high_quality" };
const busy = refused("Segment is indexing, please try again later");
const stillDisabled = refused("Can't update disabled segment");

const change = ({ send }: Writing, segment: object, id = first) => send("POST", `/${id}`, { segment });
const dataOf = async (sent: ReturnType<typeof change>) => {
  const { status, body } = await sent;
  expect(status).toBe(200);
  return body.data;
};
const stored = ({ demo }: Writing) => demo.store.read(documentId).chunks[0]?.row;

test("changed content has author and time, and new counts and a new hash", async () => {
  const writing = await startWriting([whole, whole], highQuality);
  const data = await dataOf(change(writing, { content: "afterwards" }));
  expect(data).toEqual({
    ...whole,
    ...{ id: first, position: 1, content: "afterwards", sign_content: "afterwards", word_count: 10, tokens: 4 },
    ...{ updated_by: accounts.owner, updated_at: start, indexing_at: start, completed_at: start, status: "completed" },
    index_node_hash: hash("sha256", "afterwards"),
  });
  expect((await writing.list())[0]).toEqual(data);
  expect(documentRow(writing)).toMatchObject({ word_count: 16, tokens: 6, segment_count: 2 });
});

test("content that is equal, empty or missing changes no content and sets no author", async () => {
  const writing = await startWriting([whole]);
  for (const content of ["before", "", null, undefined])
    expect(await dataOf(change(writing, { content }))).toMatchObject({
      content: "before",
      updated_by: null,
      updated_at: 1,
    });
});

test("in questions and answers an answer that is left out is lost", async () => {
  const writing = await startWriting([{ ...whole, answer: "old" }], qa);
  expect(await dataOf(change(writing, { answer: "new" }))).toMatchObject({ answer: "new", word_count: 9 });
  expect(await dataOf(change(writing, { content: "after" }))).toMatchObject({ answer: null, word_count: 5 });
  const text = await startWriting([{ ...whole, answer: "old" }]);
  expect(await dataOf(change(text, { content: "after", answer: "new" }))).toMatchObject({ answer: "old" });
});

test("files that are not named are unbound", async () => {
  const files = [7, 8, 9].map((number) => ({ id: uuid(number), source_url: `/files/${uuid(number)}/file-preview` }));
  const writing = await startWriting([{ ...whole, attachments: files }]);
  const ids = () => stored(writing)?.attachments?.map(({ id }) => id);
  await change(writing, { content: "after", attachment_ids: [uuid(9), uuid(7)] });
  expect(ids()).toEqual([uuid(7), uuid(9)]);
  await change(writing, { content: "after" });
  expect(ids()).toEqual([]);
});

describe("keywords", () => {
  it("cannot be emptied", async () => {
    const writing = await startWriting([whole]);
    for (const keywords of [[], null, undefined])
      expect(await dataOf(change(writing, { keywords }))).toMatchObject({ keywords: ["k"] });
  });

  it("are changed; together with the content not in a high-quality dataset", async () => {
    const economy = await startWriting([whole]);
    expect(await dataOf(change(economy, { content: "after", keywords: ["x"] }))).toMatchObject({ keywords: ["x"] });
    const writing = await startWriting([whole], highQuality);
    expect(await dataOf(change(writing, { content: "after", keywords: ["x"] }))).toMatchObject({ keywords: ["k"] });
    expect(await dataOf(change(writing, { content: "after", keywords: ["x"] }))).toMatchObject({ keywords: ["x"] });
  });
});

describe("enabled: false", () => {
  it("disables, and ignores everything else", async () => {
    const writing = await startWriting([whole]);
    const data = await dataOf(change(writing, { enabled: false, content: "after", keywords: ["x"] }));
    const disabled = { enabled: false, disabled_at: start, disabled_by: accounts.owner };
    expect(data).toEqual({ ...whole, id: first, position: 1, status: "completed", ...disabled });
  });

  it("permits no other change for 600 s, and then only enabling", async () => {
    const writing = await startWriting([whole, whole]);
    await change(writing, { enabled: false });
    for (const segment of [{ content: "after" }, { enabled: true }, { enabled: false }])
      expect(await change(writing, segment)).toMatchObject(busy);
    expect((await change(writing, { content: "after" }, second)).status).toBe(200);
    writing.pass(600);
    for (const segment of [{ content: "after" }, { enabled: false }, { enabled: null }])
      expect(await change(writing, segment)).toMatchObject(stillDisabled);
    const data = await dataOf(change(writing, { content: "after", enabled: true }));
    expect(data).toMatchObject({ content: "after", enabled: true, disabled_at: null, disabled_by: null });
    expect(await change(writing, { enabled: false })).toMatchObject(busy);
  });

  it("blocks for as long as the option says", async () => {
    const writing = await startWriting([whole], {}, { indexingSeconds: 0 });
    await change(writing, { enabled: false });
    expect((await change(writing, { enabled: true })).status).toBe(200);
  });

  it("is no change to an enabled chunk that says true", async () => {
    const writing = await startWriting([whole]);
    await change(writing, { enabled: true });
    expect((await change(writing, { enabled: true })).status).toBe(200);
  });
});

describe("a change that cannot be indexed", () => {
  it("is 200, and the chunk is stored, disabled, with the error", async () => {
    const writing = await startWriting([whole], {}, { embeddingFails: (content) => content === "bad" });
    const data = await dataOf(change(writing, { content: "bad" }));
    const failed = { status: "error", enabled: false, disabled_at: start, disabled_by: null };
    const error = "Embedding failed: the model did not answer";
    expect(data).toMatchObject({ content: "bad", updated_by: accounts.owner, ...failed, error });
    expect(await change(writing, { content: "good" })).toMatchObject(stillDisabled);
    expect(await dataOf(change(writing, { content: "good", enabled: true }))).toMatchObject({
      ...{ content: "good", status: "completed", enabled: true },
      error, // the service keeps an old error
    });
  });

  it("is repaired, but still says error, by the same content", async () => {
    let fails = true;
    const writing = await startWriting([whole], {}, { embeddingFails: () => fails });
    await change(writing, { content: "after" });
    fails = false;
    const data = await dataOf(change(writing, { content: "after", enabled: true }));
    expect(data).toMatchObject({ content: "after", enabled: true, status: "error" });
  });
});

test("the children of a changed parent stay", async () => {
  const hierarchical = { form: "hierarchical_model", technique: "high_quality", embedsChildren: true };
  const writing = await startWriting([{ ...whole, childContents: ["One.", "Two."] }], hierarchical);
  await change(writing, { content: "Three. Four." });
  const { children } = writing.demo.store.read(documentId).chunks[0] ?? {};
  expect(children?.map(({ content }) => content)).toEqual(["One.", "Two."]);
});

test("a single chunk is read, with the form of its document", async () => {
  const { send } = await startWriting([whole]);
  const { status, body } = await send("GET", `/${first}`);
  expect([status, body.doc_form]).toEqual([200, "text_model"]);
  expect(body.data).toMatchObject({ id: first, content: "before" });
  expect(await send("GET", `/${uuid(9)}`)).toMatchObject(refused("Segment not found.", 404, "not_found"));
});

test("a deleted chunk is gone, with its children, and the counts follow", async () => {
  const writing = await startWriting([{ ...whole, childContents: ["One."] }, whole]);
  const { status, headers, body } = await writing.send("DELETE", `/${first}`);
  expect([status, headers.get("content-type"), body]).toEqual([204, null, {}]);
  expect((await writing.list()).map(({ id }) => id)).toEqual([second]);
  expect(documentRow(writing)).toMatchObject({ word_count: 6, segment_count: 1 });
  expect(await writing.send("DELETE", `/${first}`)).toMatchObject(refused("Segment not found.", 404, "not_found"));
  expect((await writing.send("GET", `/${first}/child_chunks`)).status).toBe(404);
});

test("a change to something unknown is refused", async () => {
  const { send } = await startWriting([whole]);
  const body = { segment: { content: "x" } };
  expect(await send("POST", `/${uuid(9)}`, body)).toMatchObject(refused("Segment not found.", 404, "not_found"));
  expect(await send("POST", `/${first}`, {})).toMatchObject(refused("segment: got nothing, expected an object"));
});
