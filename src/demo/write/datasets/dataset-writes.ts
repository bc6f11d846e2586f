import type { Dataset } from "../../knowledge.js";
import { Refusal } from "../../refusal.js";
import { accounts } from "../../sample/stable-id.js";
import type { DocumentStore } from "../../store/document-store.js";
import { defaultModel, newDataset } from "../../store/new-dataset.js";
import { answerLater, type WriteOptions } from "../write-options.js";
import { changedDataset } from "./changed-dataset.js";
import type { DatasetChange, DatasetCreation } from "./requests.js";

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
