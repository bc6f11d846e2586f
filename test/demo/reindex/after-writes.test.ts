import { describe, expect, it, test } from "vitest";
import { sampleKnowledge } from "../../../src/demo/sample/sample-knowledge.js";
import { inFull } from "../../rounds.js";
import { sampleDatasets } from "../sample-datasets.js";
import { documentId, uuid } from "../small-knowledge.js";
import { documentRow, refused, start, startWriting, type Writing } from "../write/writing.js";

const whole = { answer: "", keywords: ["k"], enabled: true, disabled_by: null, updated_by: null, updated_at: 1 };
const sketches = [
  { ...whole, content: "One. Two.", childContents: ["One.", "Two."] },
  { ...whole, content: "Three." },
];
const hierarchical = { form: "hierarchical_model", technique: "high_quality", embedsChildren: true };

const reindex = ({ demo }: Writing, maxCharacters?: number) =>
  demo.store.reindex(documentId, { seconds: 0, maxCharacters });
const present = ({ demo }: Writing) => demo.store.read(documentId).chunks;
const contents = (writing: Writing) => present(writing).map(({ row }) => row.content);
const children = (writing: Writing) => present(writing).map((chunk) => chunk.children.map(({ content }) => content));

describe("a re-index", () => {
  it("undoes every write: edits, additions, deletions, disabled states and child chunks", async () => {
    const writing = await startWriting(sketches, hierarchical);
    const { send } = writing;
    await send("POST", `/${uuid(101)}`, { segment: { content: "edited", keywords: ["x"] } });
    await send("POST", "", { segments: [{ content: "added" }] });
    await send("POST", `/${uuid(102)}`, { segment: { enabled: false } });
    await send("PATCH", `/${uuid(101)}/child_chunks/${uuid(1001)}`, { content: "edited child" });
    await send("DELETE", `/${uuid(101)}/child_chunks/${uuid(1002)}`);
    await send("POST", `/${uuid(102)}/child_chunks`, { content: "added child" });
    expect(contents(writing)).toEqual(["edited", "Three.", "added"]);
    reindex(writing);
    expect(contents(writing)).toEqual(["One. Two.", "Three."]);
    expect(children(writing)).toEqual([["One.", "Two."], []]);
    for (const { row } of present(writing))
      expect(row).toMatchObject({ ...whole, updated_at: start, status: "completed" });
    await send("DELETE", `/${present(writing)[0]?.row.id}`);
    reindex(writing);
    expect(contents(writing)).toEqual(["One. Two.", "Three."]);
    expect(documentRow(writing)).toMatchObject({ segment_count: 2, indexing_status: "completed" });
  });

  it("keeps the state of the document", async () => {
    const writing = await startWriting(sketches);
    writing.demo.store.setFields(documentId, { archived: true, doc_form: "qa_model" });
    reindex(writing);
    expect(documentRow(writing)).toMatchObject({ archived: true, doc_form: "qa_model" });
  });

  it("lets no write pass while it lasts", async () => {
    const writing = await startWriting(sketches);
    writing.demo.store.reindex(documentId, { seconds: 10 });
    const add = () => writing.send("POST", "", { segments: [{ content: "x" }] });
    expect(await add()).toMatchObject(refused("Document is not completed.", 404, "not_found"));
    expect(await writing.send("POST", `/${uuid(101)}`, { segment: { content: "x" } })).toMatchObject(
      refused("Cannot operate document during indexing.", 400, "document_indexing"),
    );
    writing.pass(10);
    expect((await add()).status).toBe(200);
    expect(contents(writing)).toEqual(["One. Two.", "Three.", "x"]);
  });
});

describe("other chunk sizes", () => {
  it("split the source again, and recreate children", async () => {
    const writing = await startWriting(sketches, hierarchical);
    reindex(writing, 100);
    expect(contents(writing)).toEqual(["One. Two.\n\nThree."]);
    expect(children(writing)).toEqual([["One.", "Two.", "Three."]]);
    expect(present(writing)[0]?.row).toMatchObject({
      position: 1,
      word_count: 17,
      child_chunks: present(writing)[0]?.children,
    });
    reindex(writing, 5);
    expect(contents(writing)).toEqual(["One.", "Two.", "Three", "."]);
    reindex(writing);
    expect(contents(writing)).toEqual(["One. Two.", "Three."]);
  });

  it("leave questions and answers as they are", async () => {
    const writing = await startWriting([{ ...whole, answer: "Because." }], { form: "qa_model" });
    reindex(writing, 2);
    expect(present(writing)).toMatchObject([{ row: { content: "chunk 1", answer: "Because." } }]);
  });
});

test("another source shows with the next re-index", async () => {
  const writing = await startWriting(sketches, hierarchical);
  const { store } = writing.demo;
  expect(store.source(documentId)).toMatchObject([{ content: "One. Two.", keywords: ["k"] }, { content: "Three." }]);
  store.setSource(documentId, [...store.source(documentId).slice(1), { content: "Four. Five." }]);
  expect(contents(writing)).toEqual(["One. Two.", "Three."]);
  reindex(writing);
  expect(contents(writing)).toEqual(["Three.", "Four. Five."]);
  expect(children(writing)).toEqual([["Three."], ["Four.", "Five."]]);
});

test.runIf(inFull)("in the sample data, edits made from the start differ from those made through the service", () => {
  const { store, writes } = sampleKnowledge(() => new Date(start * 1000));
  const [product] = sampleDatasets();
  const [dataset, manual] = [product?.id ?? "", product?.documents[1] ?? ""];
  const texts = () => store.readIn(dataset, manual).chunks.map(({ row }) => row.content);
  store.reindex(manual, { seconds: 0 });
  const before = texts();
  const [first] = store.readIn(dataset, manual).chunks;
  void writes.updateChunk(dataset, manual, first?.row.id ?? "", { content: "One sentence alone" });
  expect(texts()[0]).toBe("One sentence alone");
  store.reindex(manual, { seconds: 0 });
  expect(texts()).toEqual(before);
});
