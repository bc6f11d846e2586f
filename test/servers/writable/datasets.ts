import * as v from "valibot";
import { Refusal } from "../../../src/demo/knowledge.js";
import { jsonReply, noContent, type Route, route } from "../../../src/demo/routes.js";
import { accounts, characters, type Dataset } from "../../../src/demo/rows.js";
import { buildDataset } from "../../../src/demo/sample/sample-knowledge.js";
import { bodyOf } from "../../../src/demo/write-routes.js";
import { object, oneOf, openObject, text } from "../../../src/schema.js";
import type { Place } from "./writable-knowledge.js";

/** The routes that write datasets. */
export function datasetRoutes({ store, options }: Place): readonly Route[] {
  const models = options.embeddingModels;
  const write = (row: Dataset, change: DatasetChange) => {
    const changed = changedDataset(row, change, { models, time: Math.floor(store.now()) });
    if (store.datasets().some(({ id, name }) => id !== row.id && name === changed.name)) throw nameTaken();
    store.writeDataset(changed);
    return jsonReply(200, store.dataset(row.id));
  };
  const dataset = "/v1/datasets/:dataset";
  return [
    route("POST", "/v1/datasets", async (asked) => {
      const sent = await bodyOf(creation, asked);
      const { name, provider, indexing_technique: technique = null } = sent;
      const created = newDataset(options.newId(), name, technique, Math.floor(store.now()));
      const row = { ...created, ...embeddingOf(technique, defaultModel(models)) };
      return write({ ...row, provider: provider ?? created.provider }, sent);
    }),
    route("PATCH", dataset, async (asked) => {
      const sent = await bodyOf(change, asked);
      return write(store.dataset(asked.id("dataset")), sent);
    }),
    route("DELETE", dataset, ({ id }) => {
      store.removeDataset(id("dataset"));
      return noContent;
    }),
  ];
}

/** A dataset without documents, with the service's defaults; its other fields are those of the sample. `time` is in Unix seconds. */
function newDataset(id: string, name: string, technique: "high_quality" | "economy" | null, time: number): Dataset {
  const outline = { name, description: "", technique: technique ?? "high_quality", documents: [], batches: [] };
  const { row } = buildDataset(outline, () => new Date());
  return {
    ...{ ...row, id, description: null, permission: "only_me", data_source_type: null, indexing_technique: technique },
    ...{ created_by: accounts.owner, created_at: time, updated_by: accounts.owner, updated_at: time },
    ...{ doc_metadata: [], built_in_field_enabled: false },
  };
}

function nameTaken(): Refusal {
  const message = "The dataset name already exists. Please modify your dataset name.";
  return new Refusal(409, "dataset_name_duplicate", message);
}

/** The other things that a change of a dataset depends on. */
interface Circumstances {
  /** The available embedding models, the default first; null for any. */
  readonly models: readonly string[] | null;
  /** The time of the change, in Unix seconds. */
  readonly time: number;
}

/** The dataset after a change. Throws a 400 for an unknown embedding model. */
export function changedDataset(row: Dataset, change: DatasetChange, { models, time }: Circumstances): Dataset {
  const technique = change.indexing_technique ?? row.indexing_technique ?? null;
  const usual = defaultModel(models);
  const model = {
    embedding_model: change.embedding_model ?? row.embedding_model ?? usual.embedding_model,
    embedding_model_provider:
      change.embedding_model_provider ?? row.embedding_model_provider ?? usual.embedding_model_provider,
  };
  if (technique === "high_quality" && models && !models.includes(String(model.embedding_model))) throw noModel();
  return {
    ...row,
    name: change.name ?? row.name,
    description: change.description ?? row.description,
    permission: change.permission ?? row.permission,
    indexing_technique: technique,
    ...embeddingOf(technique, model),
    retrieval_model_dict: change.retrieval_model ?? row.retrieval_model_dict,
    summary_index_setting: change.summary_index_setting ?? row.summary_index_setting,
    ...{ updated_by: accounts.owner, updated_at: time },
  };
}

interface EmbeddingModel {
  readonly embedding_model: unknown;
  readonly embedding_model_provider: unknown;
}

/** The default embedding model: the first available one. */
function defaultModel(models: readonly string[] | null): EmbeddingModel {
  return { embedding_model: models?.[0] ?? "text-embedding-3-small", embedding_model_provider: "openai" };
}

/** The model of a dataset with this indexing technique. Only high-quality datasets have embeddings. */
function embeddingOf(technique: unknown, model: EmbeddingModel): EmbeddingModel {
  return technique === "high_quality" ? model : { embedding_model: null, embedding_model_provider: null };
}

function noModel(): Refusal {
  const message = "No Embedding Model available. Please configure a valid provider in the Settings -> Model Provider.";
  return new Refusal(400, "provider_not_initialize", message);
}

const nameText = "a text of 1 to 40 characters";
const name = v.pipe(
  v.string(nameText),
  v.check((value) => value.trim() !== "" && characters(value) <= 40, nameText),
);

const settings = {
  description: v.nullish(text),
  indexing_technique: v.nullish(oneOf("high_quality", "economy")),
  permission: v.nullish(oneOf("only_me", "all_team_members", "partial_members")),
  embedding_model: v.nullish(text),
  embedding_model_provider: v.nullish(text),
  retrieval_model: v.nullish(openObject({})),
  summary_index_setting: v.nullish(openObject({})),
};

const creation = object({ name, ...settings, provider: v.nullish(text) });
const change = object({ name: v.nullish(name), ...settings });

/** A change of a dataset. Null and missing fields change nothing. */
type DatasetChange = Readonly<v.InferOutput<typeof change>>;
