import type { DatasetPlan } from "./move-plan.js";

/**
 * The key of a copy: the service refuses a document whose form is not that of its dataset (400 of create-by-text), so that one
 * dataset of the dump may need several copies. The copy of the most frequent form has the id of the dataset as its key, every other the
 * form behind it.
 */
export function datasetKey(datasetId: string, form: string, mainForm: string): string {
  return form === mainForm ? datasetId : `${datasetId}/${form}`;
}

/** The id in the dump of the dataset that a key belongs to. */
export function datasetIdOf(key: string): string {
  return key.split("/", 1)[0] ?? key;
}

/** The name that a copy gets where it is free and short enough: that of the dataset, with the form behind it if the key has one. */
export function wishedName({
  key,
  dataset_id,
  dataset_name,
}: Pick<DatasetPlan, "key" | "dataset_id" | "dataset_name">) {
  return key === dataset_id ? dataset_name : `${dataset_name} (${key.slice(dataset_id.length + 1)})`;
}
