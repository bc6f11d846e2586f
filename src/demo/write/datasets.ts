import * as v from "valibot";
import { object, oneOf, openObject, text } from "../../schema.js";
import { type Dataset, Refusal } from "../knowledge.js";
import { jsonReply, noContent, type Route, route } from "../routes.js";
import { accounts } from "../sample/outline.js";
import { characters } from "../sample/prose.js";
import type { DocumentStore } from "../store/document-store.js";
import { defaultModel, embeddingOf, newDataset } from "../store/new-rows.js";
import { checked } from "./requests.js";
import { answerLater, type WriteOptions } from "./write-options.js";

/** The writes to datasets. Each is done at once, before its answer waits for the delay. */
export class DatasetWrites {
  readonly #store: DocumentStore;
  readonly #options: Required<WriteOptions>;

  constructor(store: DocumentStore, options: Required<WriteOptions>) {
    this.#store = store;
    this.#options = options;
  }

  /** Creates a dataset without documents. Throws a 409 for a name that is taken. */
  async create(creation: DatasetCreation): Promise<Dataset> {
    const { name, provider, indexing_technique: technique = null } = creation;
    const place = { id: this.#options.newId(), description: null, time: this.#time(), by: accounts.owner };
    const created = newDataset({ ...place, name, technique }, defaultModel(this.#options.embeddingModels));
    return this.#write({ ...created, provider: provider ?? created.provider }, creation);
  }

  /** Changes the settings of a dataset. Throws a 409 for a name that is taken. */
  async change(datasetId: string, change: DatasetChange): Promise<Dataset> {
    return this.#write(this.#store.dataset(datasetId), change);
  }

  /** Deletes a dataset with all its documents. */
  async remove(datasetId: string): Promise<void> {
    this.#store.removeDataset(datasetId);
    await answerLater(this.#options);
  }

  async #write(row: Dataset, change: DatasetChange): Promise<Dataset> {
    const changed = changedDataset(row, change, { models: this.#options.embeddingModels, time: this.#time() });
    if (this.#store.datasets().some(({ id, name }) => id !== row.id && name === changed.name)) throw nameTaken();
    this.#store.writeDataset(changed);
    await answerLater(this.#options);
    return this.#store.dataset(row.id);
  }

  #time(): number {
    return Math.floor(this.#store.now());
  }
}

function nameTaken(): Refusal {
  const message = "The dataset name already exists. Please modify your dataset name.";
  return new Refusal(409, "dataset_name_duplicate", message);
}

/** The circumstances of a change. */
interface Circumstances {
  /** The embedding models that there are, the default first; null for any. */
  readonly models: readonly string[] | null;
  /** Unix seconds. */
  readonly time: number;
}

/** The dataset as a change leaves it. Throws a 400 for an embedding model that there is not. */
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

/** A dataset to create, as it was sent. */
type DatasetCreation = Readonly<v.InferOutput<typeof creation>>;

/** The change of a dataset: null and what is left out change nothing. */
type DatasetChange = Readonly<v.InferOutput<typeof change>>;

/** The dataset of a request to create it. Throws a 400 that names every problem. */
function checkCreation(body: unknown): DatasetCreation {
  return checked(creation, body);
}

/** The change of a request to update a dataset; the same. */
function checkChange(body: unknown): DatasetChange {
  return checked(change, body);
}

/** The routes of the writes to datasets. */
export function datasetRoutes(datasets: DatasetWrites): readonly Route[] {
  const dataset = "/v1/datasets/:dataset";
  return [
    route("POST", "/v1/datasets", async ({ body }) =>
      jsonReply(200, await datasets.create(checkCreation(await body()))),
    ),
    route("PATCH", dataset, async ({ id, body }) =>
      jsonReply(200, await datasets.change(id("dataset"), checkChange(await body()))),
    ),
    route("DELETE", dataset, async ({ id }) => {
      await datasets.remove(id("dataset"));
      return noContent;
    }),
  ];
}
