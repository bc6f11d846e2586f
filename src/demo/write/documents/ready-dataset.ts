import type { Dataset } from "../../knowledge.js";
import { invalidParam } from "../../refusal.js";
import { changedDataset } from "../datasets/changed-dataset.js";
import type { WriteOptions } from "../write-options.js";
import type { CreationSettings } from "./requests.js";

/**
 * The dataset that a document is created in, with all that its first document decides. Throws a 400 for a dataset without an indexing
 * technique, if the document brings none, and for a form that the other documents do not have. `time` in Unix seconds.
 */
export function readyDataset(
  dataset: Dataset,
  settings: CreationSettings,
  form: string,
  { mixedForms, embeddingModels }: Required<WriteOptions>,
  time: number,
): Dataset {
  const { indexing_technique, retrieval_model, embedding_model, embedding_model_provider } = settings;
  if (!dataset.indexing_technique && !indexing_technique) throw invalidParam("indexing_technique is required.");
  if (!mixedForms && dataset.doc_form && dataset.doc_form !== form) {
    throw invalidParam("doc_form is different from the dataset doc_form.");
  }
  const begun = { ...dataset, data_source_type: dataset.data_source_type ?? "upload_file" };
  if (dataset.indexing_technique) return begun;
  const change = { indexing_technique, retrieval_model, embedding_model, embedding_model_provider };
  return changedDataset(begun, change, { models: embeddingModels, time });
}
