import { describe, expect, it } from "vitest";
import { rowFrom, rowsFrom } from "../../demo/ask.js";
import { refused, start } from "../../demo/write/writing.js";
import { economy, pre_processing_rules, text, withDocument } from "./created-document.js";
import { startEmpty } from "./empty-service.js";

describe("creating a document from a text", () => {
  it("answers and lists it as waiting, with a batch", async () => {
    const place = await startEmpty();
    const { id, created, document, batch } = await withDocument(place);
    expect(created.status).toBe(200);
    expect(document).toMatchObject({
      ...{
        name: "Guide.txt",
        position: 1,
        indexing_status: "waiting",
        display_status: "queuing",
        doc_form: "text_model",
      },
      ...{ created_from: "api", data_source_type: "upload_file", created_at: start, enabled: true, archived: false },
      ...{ word_count: 0, tokens: 0, error: null, data_source_info: { upload_file_id: expect.any(String) } },
    });
    expect(batch).toMatch(/^20250615150640\d{6}$/);
    const { body } = await place.send("GET", `/${id}/documents`);
    expect(body).toMatchObject({ total: 1, data: [{ id: document.id, indexing_status: "waiting" }] });
    expect(Object.keys(rowsFrom(body.data)[0] ?? {})).toEqual(Object.keys(document));
  });

  it("goes through the indexing stages, and then its chunks appear", async () => {
    const place = await startEmpty({ indexingTime: 10 });
    const { id, batch, path, chunks } = await withDocument(place);
    const stages: unknown[] = [];
    for (let second = 0; second <= 10; second++) {
      const { body } = await place.send("GET", `/${id}/documents/${batch}/indexing-status`);
      const [entry] = rowsFrom(body.data);
      expect((await place.send("GET", path)).body.indexing_status).toBe(entry?.indexing_status);
      stages.push([entry?.indexing_status, entry?.completed_segments, entry?.total_segments]);
      expect(await chunks()).toHaveLength(Number(entry?.total_segments));
      place.pass(1);
    }
    expect(stages).toEqual([
      ["waiting", 0, 0],
      ["parsing", 0, 0],
      ["cleaning", 0, 0],
      ["splitting", 0, 0],
      ["splitting", 0, 1],
      ["indexing", 0, 2],
      ["indexing", 0, 2],
      ["indexing", 0, 2],
      ["indexing", 1, 2],
      ["indexing", 1, 2],
      ["completed", 2, 2],
    ]);
    expect((await place.send("GET", path)).body).toMatchObject({
      ...{ indexing_status: "completed", display_status: "available", segment_count: 2, word_count: 39 },
      ...{ average_segment_length: 19, completed_at: start + 10, indexing_latency: 10, doc_language: "English" },
    });
    expect((await place.send("GET", `/${id}`)).body).toMatchObject({
      ...{ document_count: 1, total_documents: 1, total_available_documents: 1, word_count: 39 },
      ...{ doc_form: "text_model", data_source_type: "upload_file" },
    });
  });

  it("cleans and splits the text, so it does not come back word for word", async () => {
    const { chunks } = await withDocument(await startEmpty({ indexingTime: 0 }));
    const common = { status: "completed", enabled: true, hit_count: 0, answer: "", keywords: [], tokens: 0 };
    expect(await chunks()).toMatchObject([
      { ...common, position: 1, content: "First piece. It goes on.", word_count: 24 },
      { ...common, position: 2, content: "Second <piece>.", created_at: start },
    ]);
  });

  it("accepts chunks only after indexing", async () => {
    const place = await startEmpty({ indexingTime: 10 });
    const { path } = await withDocument(place);
    const add = () => place.send("POST", `${path}/segments`, { segments: [{ content: "added" }] });
    expect(await add()).toMatchObject(refused("Document is not completed.", 404, "not_found"));
    place.pass(10);
    expect((await add()).body.data).toMatchObject([{ content: "added", position: 3 }]);
  });

  it("reports a failed indexing in the status, completes no chunk, and accepts no more chunks", async () => {
    const place = await startEmpty({ indexingFails: (name) => name === "Bad.txt", indexingTime: 10 });
    const { id, batch, path, chunks } = await withDocument(place, { name: "Bad.txt" });
    place.pass(10);
    const error = "Embedding failed: the model did not answer";
    const { body } = await place.send("GET", `/${id}/documents/${batch}/indexing-status`);
    expect(body.data).toMatchObject([
      { indexing_status: "error", error, completed_at: null, stopped_at: start + 10, completed_segments: 0 },
    ]);
    const failed = { indexing_status: "error", display_status: "error", error, completed_at: null };
    expect((await place.send("GET", path)).body).toMatchObject(failed);
    expect(await chunks()).toMatchObject([{ status: "indexing" }, { status: "indexing" }]);
    expect((await place.send("POST", `${path}/segments`, { segments: [{ content: "x" }] })).status).toBe(404);
    expect((await place.send("DELETE", path)).status).toBe(204);
  });

  it("puts it first in the list, after the greatest position", async () => {
    const place = await startEmpty({ indexingTime: 0 });
    const { id, path } = await withDocument(place);
    const create = async (name: string) =>
      rowFrom((await place.send("POST", `/${id}/document/create_by_text`, { name, text })).body.document);
    await create("Second.txt");
    const both = (await place.send("GET", `/${id}/documents`)).body.data;
    expect(both).toMatchObject([{ name: "Second.txt" }, { name: "Guide.txt" }]);
    place.pass(5);
    await place.send("DELETE", path);
    expect(await create("Third.txt")).toMatchObject({ position: 3 });
    const { body } = await place.send("GET", `/${id}/documents`);
    expect(body.data).toMatchObject([{ name: "Third.txt" }, { name: "Second.txt" }]);
  });

  it("creates two documents if the request is sent twice", async () => {
    const place = await startEmpty();
    const { id } = await withDocument(place);
    await place.send("POST", `/${id}/document/create-by-text`, { name: "Guide.txt", text });
    expect((await place.send("GET", `/${id}/documents`)).body.total).toBe(2);
  });
});

describe("refusing a document", () => {
  it("if a field is missing or wrong", async () => {
    const place = await startEmpty();
    const id = await place.newDataset(economy);
    const noSeparator = { mode: "custom", rules: { pre_processing_rules, segmentation: { max_tokens: 5 } } };
    for (const wrong of [
      ...[{ name: "" }, { name: " " }, { name: undefined }, { text: "" }, { text: "\n" }, { text: null }],
      ...[{ doc_form: "pdf_model" }, { indexing_technique: "fast" }, { process_rule: { mode: "magic" } }],
      ...[{ process_rule: { mode: "custom" } }, { process_rule: { mode: "hierarchical", rules: {} } }],
      { process_rule: noSeparator },
    ]) {
      const sent = await place.send("POST", `/${id}/document/create-by-text`, { name: "x", text, ...wrong });
      expect([wrong, sent]).toMatchObject([wrong, { status: 400, body: { code: "invalid_param" } }]);
    }
    expect((await place.send("GET", `/${id}/documents`)).body.total).toBe(0);
    const nowhere = "/00000000-0000-4000-8000-000000000009/document/create-by-text";
    expect((await place.send("POST", nowhere, { name: "x", text })).status).toBe(404);
  });

  it("if neither it nor its dataset has an indexing technique; the first document sets that of its dataset", async () => {
    const place = await startEmpty({ indexingTime: 0, embeddingModels: ["bge-m3", "ada"] });
    const { id, created } = await withDocument(place, {}, {});
    expect(created).toMatchObject(refused("indexing_technique is required."));
    const high = { indexing_technique: "high_quality", embedding_model: "ada", embedding_model_provider: "p" };
    const create = (more: object) => place.send("POST", `/${id}/document/create-by-text`, { name: "x", text, ...more });
    expect(await create({ ...high, embedding_model: "gone" })).toMatchObject({
      status: 400,
      body: { code: "provider_not_initialize" },
    });
    expect((await place.send("GET", `/${id}`)).body).toMatchObject({ indexing_technique: null });
    expect((await create({ ...high, retrieval_model: { top_k: 9 } })).status).toBe(200);
    const dataset = async () => (await place.send("GET", `/${id}`)).body;
    expect(await dataset()).toMatchObject({ ...high, retrieval_model_dict: { top_k: 9 } });
    expect((await create(economy)).status).toBe(200);
    expect(await dataset()).toMatchObject(high);
  });
});

describe("deleting a document", () => {
  it("removes its chunks and its batch", async () => {
    const place = await startEmpty({ indexingTime: 0 });
    const { id, path, batch, chunks } = await withDocument(place);
    const [chunk] = await chunks();
    expect((await place.send("DELETE", path)).status).toBe(204);
    for (const gone of [path, `${path}/segments`, `/${id}/documents/${batch}/indexing-status`])
      expect([gone, (await place.send("GET", gone)).status]).toEqual([gone, 404]);
    expect((await place.send("DELETE", path)).status).toBe(404);
    const other = await withDocument(place);
    expect((await place.send("GET", `${other.path}/segments/${chunk?.id}`)).status).toBe(404);
    const [kept] = await other.chunks();
    const third = await withDocument(place);
    expect((await place.send("GET", `${third.path}/segments/${kept?.id}`)).status).toBe(200);
    await place.send("DELETE", `/${other.id}`);
    expect((await place.send("GET", `${third.path}/segments/${kept?.id}`)).status).toBe(404);
  });

  it("is refused while it is being indexed or archived", async () => {
    const place = await startEmpty({ indexingTime: 10 });
    const { id, path, document } = await withDocument(place);
    expect(await place.send("DELETE", path)).toMatchObject({ status: 400, body: { code: "document_indexing" } });
    place.pass(10);
    const set = (action: string) =>
      place.send("PATCH", `/${id}/documents/status/${action}`, { document_ids: [document.id] });
    await set("archive");
    expect(await place.send("DELETE", path)).toMatchObject({
      status: 403,
      body: { code: "archived_document_immutable" },
    });
    await set("un_archive");
    expect((await place.send("DELETE", path)).status).toBe(204);
  });
});

describe("the status of documents", () => {
  it("changes for all named documents; disabled and archived ones accept no chunks", async () => {
    const place = await startEmpty({ indexingTime: 0 });
    const { id, path, document } = await withDocument(place);
    const second = await place.send("POST", `/${id}/document/create-by-text`, { name: "Second", text });
    const document_ids = [document.id, rowFrom(second.body.document).id];
    const add = () => place.send("POST", `${path}/segments`, { segments: [{ content: "x" }] });
    const rowAfter = async (action: string) => {
      const { status, body } = await place.send("PATCH", `/${id}/documents/status/${action}`, { document_ids });
      expect([status, body]).toEqual([200, { result: "success" }]);
      const rows = rowsFrom((await place.send("GET", `/${id}/documents`)).body.data);
      expect(rows[0]).toMatchObject({ display_status: rows[1]?.display_status });
      return rows[0];
    };
    const disabled = { enabled: false, disabled_at: start, disabled_by: expect.any(String) };
    expect(await rowAfter("disable")).toMatchObject({ ...disabled, display_status: "disabled" });
    expect(await add()).toMatchObject(refused("Document is disabled.", 404, "not_found"));
    expect(await rowAfter("archive")).toMatchObject({ ...disabled, archived: true, display_status: "archived" });
    expect(await rowAfter("enable")).toMatchObject({ enabled: true, disabled_at: null, archived: true });
    expect(await add()).toMatchObject(refused("The document is archived."));
    expect(await rowAfter("un_archive")).toMatchObject({ archived: false, display_status: "available" });
    expect((await add()).status).toBe(200);
    expect((await place.send("GET", `/${id}`)).body).toMatchObject({ total_available_documents: 2 });
  });

  it("changes for none if one is unknown or not indexed", async () => {
    const place = await startEmpty({ indexingTime: 10 });
    const { id, path, document } = await withDocument(place);
    const disable = (...document_ids: unknown[]) =>
      place.send("PATCH", `/${id}/documents/status/disable`, { document_ids });
    expect(await disable(document.id)).toMatchObject({ status: 400, body: { code: "invalid_action" } });
    place.pass(10);
    expect((await disable(document.id, "00000000-0000-4000-8000-000000000009")).status).toBe(404);
    expect((await place.send("GET", path)).body).toMatchObject({ enabled: true });
    const burnt = await place.send("PATCH", `/${id}/documents/status/burn`, { document_ids: [document.id] });
    expect(burnt).toMatchObject({ status: 400, body: { code: "invalid_action" } });
  });
});
