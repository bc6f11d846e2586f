import { describe, expect, it } from "vitest";
import { refused, start } from "../../demo/write/writing.js";
import { startEmpty } from "./empty-service.js";

const taken = refused(
  "The dataset name already exists. Please modify your dataset name.",
  409,
  "dataset_name_duplicate",
);
const noModel = {
  status: 400,
  body: { code: "provider_not_initialize", message: expect.stringContaining("No Embedding Model available") },
};

describe("creating a dataset", () => {
  it("uses the defaults of the service for missing settings", async () => {
    const { send, pass } = await startEmpty();
    pass(0.7);
    const { status, body } = await send("POST", "", { name: "Manuals" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ name: "Manuals", description: null, indexing_technique: null, permission: "only_me", provider: "vendor" },
      ...{ embedding_model: null, embedding_model_provider: null, summary_index_setting: null, tags: [] },
      ...{ doc_form: null, doc_metadata: [], built_in_field_enabled: false, runtime_mode: "general" },
      ...{ document_count: 0, word_count: 0, total_documents: 0, total_available_documents: 0 },
      ...{ created_at: start, updated_at: start, enable_api: true },
      retrieval_model_dict: { search_method: "semantic_search", top_k: 4, reranking_enable: false },
    });
  });

  it("stores the sent settings, and reads match the answer", async () => {
    const { send } = await startEmpty();
    const settings = {
      ...{ description: "For all", permission: "partial_members", indexing_technique: "high_quality" },
      ...{ embedding_model: "bge-m3", embedding_model_provider: "ollama" },
      summary_index_setting: { enable: true, model_name: "small" },
    };
    const retrieval_model = { search_method: "hybrid_search", top_k: 7, weights: { vector_setting: { w: 0.25 } } };
    const { body } = await send("POST", "", { name: "Manuals", ...settings, retrieval_model });
    expect(body).toMatchObject({ ...settings, retrieval_model_dict: retrieval_model });
    expect(body).not.toHaveProperty("retrieval_model");
    expect((await send("GET", `/${body.id}`)).body).toEqual(body);
    expect((await send("GET", `/${String(body.id).toUpperCase()}`)).body).toEqual(body);
    expect((await send("GET", "")).body).toMatchObject({ data: [body], total: 1 });
    expect((await send("GET", `/${body.id}/documents`)).body).toMatchObject({ data: [], total: 0 });
    expect((await send("GET", `/${body.id}/metadata`)).body).toEqual({
      doc_metadata: [],
      built_in_field_enabled: false,
    });
  });

  it("uses the default embedding model if none is given, and none unless it is high-quality", async () => {
    const { send } = await startEmpty();
    const make = async (name: string, more: object) => (await send("POST", "", { name, ...more })).body;
    expect(await make("one", { indexing_technique: "high_quality" })).toMatchObject({
      embedding_model: "text-embedding-3-small",
      embedding_model_provider: "openai",
    });
    const none = { embedding_model: null, embedding_model_provider: null };
    const economy = await make("two", { indexing_technique: "economy", embedding_model: "m" });
    expect(economy).toMatchObject({ ...none, retrieval_model_dict: { search_method: "keyword_search" } });
    expect(await make("three", { embedding_model: "m", embedding_model_provider: "p" })).toMatchObject(none);
  });

  it("puts it first in the list", async () => {
    const { send } = await startEmpty();
    for (const name of ["one", "two", "three"]) await send("POST", "", { name });
    const { body } = await send("GET", "");
    expect(body.data).toMatchObject([{ name: "three" }, { name: "two" }, { name: "one" }]);
    expect(new Set((body.data as { id: string }[]).map(({ id }) => id)).size).toBe(3);
  });

  it("refuses a name that is taken, blank, too long or missing, and stores nothing", async () => {
    const { send } = await startEmpty();
    await send("POST", "", { name: "Manuals" });
    expect(await send("POST", "", { name: "Manuals" })).toMatchObject(taken);
    for (const name of ["", "  ", "x".repeat(41), 7, undefined])
      expect(await send("POST", "", { name })).toMatchObject({ status: 400, body: { code: "invalid_param" } });
    for (const wrong of [{ indexing_technique: "fast" }, { permission: "all" }, { retrieval_model: "best" }])
      expect(await send("POST", "", { name: "Other", ...wrong })).toMatchObject({ status: 400 });
    expect((await send("GET", "")).body.total).toBe(1);
    expect((await send("POST", "", { name: "🔥".repeat(40) })).status).toBe(200);
  });

  it("refuses an unknown embedding model if the service has a list of models", async () => {
    const { send } = await startEmpty({ embeddingModels: ["bge-m3"] });
    const high = { indexing_technique: "high_quality" };
    expect(await send("POST", "", { name: "one", ...high, embedding_model: "ada" })).toMatchObject(noModel);
    expect((await send("POST", "", { name: "one", ...high })).body).toMatchObject({ embedding_model: "bge-m3" });
    expect((await send("POST", "", { name: "two", indexing_technique: "economy" })).status).toBe(200);
  });
});

describe("changing a dataset", () => {
  it("keeps settings that are missing or null", async () => {
    const { send, newDataset, pass } = await startEmpty();
    const id = await newDataset({ description: "For all", indexing_technique: "economy" });
    const before = (await send("GET", `/${id}`)).body;
    pass(5);
    const { status, body } = await send("PATCH", `/${id}`, { name: "Renamed", description: null });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, name: "Renamed", updated_at: start + 5 });
    const settings = { permission: "all_team_members", summary_index_setting: { enable: false } };
    await send("PATCH", `/${id}`, { ...settings, retrieval_model: { search_method: "keyword_search", top_k: 1 } });
    expect((await send("GET", `/${id}`)).body).toMatchObject({
      ...settings,
      name: "Renamed",
      retrieval_model_dict: { top_k: 1 },
    });
  });

  it("adds a model for high quality, and removes it for economy", async () => {
    const { send, newDataset } = await startEmpty({ embeddingModels: ["bge-m3", "ada"] });
    const id = await newDataset();
    const high = { indexing_technique: "high_quality", embedding_model: "ada", embedding_model_provider: "openai" };
    expect((await send("PATCH", `/${id}`, high)).body).toMatchObject(high);
    expect(await send("PATCH", `/${id}`, { embedding_model: "gone" })).toMatchObject(noModel);
    expect((await send("PATCH", `/${id}`, { indexing_technique: "economy" })).body).toMatchObject({
      embedding_model: null,
    });
  });

  it("refuses the name of another dataset, but not its own", async () => {
    const { send, newDataset } = await startEmpty();
    const [one] = [await newDataset({ name: "one" }), await newDataset({ name: "two" })];
    expect(await send("PATCH", `/${one}`, { name: "two", description: "x" })).toMatchObject(taken);
    expect((await send("PATCH", `/${one}`, { name: "one" })).status).toBe(200);
    expect((await send("GET", `/${one}`)).body).toMatchObject({ name: "one", description: null });
    expect((await send("PATCH", "/00000000-0000-4000-8000-000000000009", { name: "x" })).status).toBe(404);
  });
});

describe("deleting a dataset", () => {
  it("removes it and frees its name", async () => {
    const { send, newDataset } = await startEmpty();
    const id = await newDataset({ name: "one" });
    expect((await send("DELETE", `/${id}`)).status).toBe(204);
    for (const path of ["", "/documents", "/metadata", "/tags"])
      expect((await send("GET", `/${id}${path}`)).status).toBe(404);
    expect((await send("DELETE", `/${id}`)).status).toBe(404);
    expect((await send("GET", "")).body.total).toBe(0);
    expect((await send("POST", "", { name: "one" })).status).toBe(200);
  });
});
