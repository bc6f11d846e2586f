import { expect, test } from "vitest";
import type { Listed } from "../../../src/client/check-answer.js";
import { datasetFrom } from "../../../src/compare/proof/settings.js";
import { planDataset } from "../../../src/restore/copy/plan-copy.js";
import { datasetDetails } from "./documents.js";

const retrieval_model = { search_method: "hybrid_search", top_k: 3, weights: { keyword: 0.3 } };
const rich = datasetDetails({
  description: "All that we know",
  permission: "all_team_members",
  indexing_technique: "high_quality",
  embedding_model: "small",
  embedding_model_provider: "openai",
  retrieval_model,
  summary_index_setting: { enable: true },
});
const made = { target: { kind: "new", name: "Handbook" }, there: null } as const;
const thereWith = (settings: Omit<Listed, "id">, existed = true) => ({
  target: { kind: "there", id: "t", name: "Target" } as const,
  there: { settings: { id: "t", ...settings }, documents: new Set<string>(), flaw: null, existed },
});
const plan = (details = rich, found: Parameters<typeof planDataset>[1] = made) =>
  planDataset({ key: "d", details, dataset_name: "Handbook" }, found, []);

test("a new dataset is made with the settings of the old one", () => {
  expect(plan()).toMatchObject({
    settings: {
      description: "All that we know",
      permission: "all_team_members",
      indexing_technique: "high_quality",
      embedding_model: "small",
      embedding_model_provider: "openai",
      retrieval_model,
      summary_index_setting: { enable: true },
    },
    losses: [],
  });
});

test("settings that no request makes are losses", () => {
  const { settings, losses } = plan({ ...rich, permission: "partial_members", runtime_mode: "rag_pipeline" });
  expect(settings.permission).toBe("only_me");
  expect(losses).toEqual([
    { part: "settings", rows: 1, reason: expect.stringContaining("partial_members becomes only_me") },
    { part: "settings", rows: 1, reason: expect.stringContaining("the pipeline itself is not copied") },
  ]);
  expect(plan(datasetFrom({ dataset_id: "d" }))).toMatchObject({
    settings: { description: "", permission: "only_me", indexing_technique: null },
    losses: [{ part: "settings", rows: 1, reason: expect.stringContaining("could not read the settings") }],
  });
});

test("a dataset that the restore did not make keeps its settings: a loss names both values of each that differs", () => {
  const { description, permission, indexing_technique, embedding_model, embedding_model_provider } = rich;
  const same = { description, permission, indexing_technique, embedding_model, embedding_model_provider };
  const knows = { retrieval_model_dict: { ...retrieval_model, new_setting: 1 } };
  expect(plan(rich, thereWith({ ...same, ...knows })).losses).toEqual([]);
  expect(plan(rich, thereWith({ description: "" }, false)).losses).toEqual([]);
  const others = { description: "", permission: "only_me", indexing_technique: "economy", embedding_model: null };
  const provider = { embedding_model_provider: "other", retrieval_model_dict: { ...retrieval_model, top_k: 4 } };
  expect(plan(rich, thereWith({ ...others, ...provider })).losses.map(({ reason }) => reason)).toEqual([
    'Its description is nothing at the service, and "All that we know" in the run, and stays as it is there.',
    'Its permission is "only_me" at the service, and "all_team_members" in the run, and stays as it is there.',
    'Its indexing technique is "economy" at the service, and "high_quality" in the run, and stays as it is there.',
    'Its embedding model is nothing at the service, and "small" in the run, and stays as it is there.',
    'Its provider of the embedding model is "other" at the service, and "openai" in the run, and stays as it is there.',
    "Its retrieval model differs in top_k, and stays as it is there.",
  ]);
});

test("only the dataset's own metadata fields are copied, and tags by name", () => {
  const details = datasetFrom({
    dataset_id: "d",
    name: "Handbook",
    doc_metadata: JSON.stringify([
      { id: "f1", name: "author", type: "string", count: 3 },
      { id: "built-in", name: "new_built_in", type: "string" },
      { id: "f9", name: "uploader", type: "string" },
      { id: "f2", name: "year", type: "number" },
    ]),
    built_in_field_enabled: true,
    tags: JSON.stringify([{ id: "t1", name: "public" }, { id: "t2", name: "public" }, { id: "t3" }]),
  });
  const standing = { doc_metadata: [{ name: "year", type: "number" }], tags: [{ id: "t", name: "public" }] };
  expect([plan(details), plan(details, thereWith(standing))].map(({ equipping }) => equipping)).toEqual([5, 2]);
  expect(plan(details, thereWith({ ...standing, built_in_field_enabled: true })).equipping).toBe(1);
  expect(plan(details)).toMatchObject({
    fields: [
      { name: "author", type: "string" },
      { name: "year", type: "number" },
    ],
    built_in_fields: true,
    tags: ["public"],
  });
});
