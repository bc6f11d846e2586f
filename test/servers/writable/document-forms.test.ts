import { describe, expect, it } from "vitest";
import { rowFrom } from "../../demo/ask.js";
import { refused } from "../../demo/write/writing.js";
import { custom, pre_processing_rules, text, withDocument } from "./created-document.js";
import { startEmpty } from "./empty-service.js";

const paragraphs = { mode: "hierarchical", rules: { ...custom.rules, parent_mode: "paragraph" } };
const wholeText = { mode: "hierarchical", rules: { ...custom.rules, parent_mode: "full-doc" } };

describe("the form of a document", () => {
  it("qa_model turns each piece into a question and an answer", async () => {
    const { chunks } = await withDocument(await startEmpty({ indexingTime: 0 }), { doc_form: "qa_model" });
    expect(await chunks()).toMatchObject([
      { content: "What follows from “First piece.”?", answer: "First piece. It goes on." },
      { answer: "Second <piece>." },
    ]);
  });

  it("hierarchical_model makes children, which chunks embed unless a chunk is the whole document", async () => {
    const hierarchical = { doc_form: "hierarchical_model", doc_language: "German" };
    const place = await startEmpty({ indexingTime: 0 });
    const high = { indexing_technique: "high_quality" };
    const one = await withDocument(place, { ...hierarchical, process_rule: paragraphs }, high);
    expect(await one.chunks()).toMatchObject([
      { tokens: 8, child_chunks: [{ content: "First piece.", type: "automatic" }, { content: "It goes on." }] },
      { child_chunks: [{ content: "Second <piece>." }] },
    ]);
    const two = await withDocument(place, { ...hierarchical, process_rule: wholeText }, high);
    const [whole, ...others] = await two.chunks();
    expect([whole, others]).toMatchObject([
      { content: text.slice(2).replace("<|piece|>", "<piece>"), child_chunks: [] },
      [],
    ]);
    const children = await place.send("GET", `${two.path}/segments/${whole?.id}/child_chunks`);
    expect(children.body.total).toBe(3);
    expect((await place.send("GET", two.path)).body).toMatchObject({
      doc_language: "German",
      document_process_rule: { ...wholeText, id: two.document.dataset_process_rule_id },
    });
  });

  it("is the same for all documents of a dataset, except in old releases", async () => {
    const create = async (mixedForms: boolean) => {
      const place = await startEmpty({ indexingTime: 0, mixedForms });
      const { id } = await withDocument(place);
      const created = await place.send("POST", `/${id}/document/create-by-text`, {
        name: "q",
        text,
        doc_form: "qa_model",
      });
      expect((await place.send("GET", `/${id}`)).body.doc_form).toBe("text_model");
      return created;
    };
    expect(await create(false)).toMatchObject(refused("doc_form is different from the dataset doc_form."));
    expect((await create(true)).status).toBe(200);
  });
});

describe("the rule of a document", () => {
  it("sets the separator and the maximum length of a piece", async () => {
    const rules = { pre_processing_rules, segmentation: { separator: "\\n---\\n", max_tokens: 12 } };
    const process_rule = { mode: "custom", rules };
    const sent = { text: "One two. Three four.\n---\nFive.", process_rule };
    const { chunks } = await withDocument(await startEmpty({ indexingTime: 0 }), sent);
    expect((await chunks()).map(({ content }) => content)).toEqual(["One two.", "Three four.", "Five."]);
  });

  it("defaults to the newest rule of the dataset, or to the automatic rule", async () => {
    const place = await startEmpty({ indexingTime: 0 });
    const { id, path } = await withDocument(place, { process_rule: undefined });
    const ruleOf = async (document: unknown) =>
      rowFrom((await place.send("GET", `/${id}/documents/${document}`)).body.document_process_rule);
    expect((await place.send("GET", path)).body.document_process_rule).toMatchObject({
      mode: "automatic",
      rules: { segmentation: { delimiter: "\n", max_tokens: 500 } },
    });
    const ids: unknown[] = [];
    for (const more of [{ process_rule: custom }, {}]) {
      place.pass(1);
      const sent = await place.send("POST", `/${id}/document/create-by-text`, { name: "x", text, ...more });
      ids.push(rowFrom(sent.body.document).id);
    }
    const [first, second] = await Promise.all(ids.map(ruleOf));
    expect(second).toMatchObject(custom);
    expect(second?.id).not.toBe(first?.id);
  });
});
