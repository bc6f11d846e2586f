import type { Dataset } from "../../knowledge.js";
import { Refusal } from "../../refusal.js";
import { accounts } from "../../sample/stable-id.js";
import { defaultModel, embeddingOf } from "../../store/new-dataset.js";
import type { DatasetChange } from "./requests.js";

/** The circumstances of a change. */
export interface Circumstances {
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
