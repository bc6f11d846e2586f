import type { NewDataset } from "../../client/write/write-bodies.js";
import { SkipError } from "../../errors.js";
import type { DatasetPlan, DatasetSettings } from "../move-plan.js";
import type { ApplyOptions } from "./apply-options.js";
import { carryOut, madeBy } from "./carry-out.js";
import { findDataset } from "./find-made.js";

/** Makes the dataset of the target that takes the documents, or adopts the one that is there; gives its id. SkipError where it cannot be. */
export async function placeDataset(plan: DatasetPlan, options: ApplyOptions): Promise<string> {
  const { journal } = options;
  const known = journal.facts.datasets.get(plan.key);
  if (plan.target.kind === "there") {
    if (known?.id !== plan.target.id) await journal.adopt(plan.key, plan.target);
    return plan.target.id;
  }
  return known?.id ?? createDataset(plan, plan.target.name, options);
}

async function createDataset(plan: DatasetPlan, name: string, options: ApplyOptions): Promise<string> {
  const { journal, writer } = options;
  const { key, dataset_id } = plan;
  if (journal.open.some((intent) => intent.write === "create dataset" && intent.dataset_id === key))
    throw new SkipError("nobody knows whether an earlier process made the dataset; restore again later");
  const find = () => findDataset(options, name);
  const facts = { write: "create dataset", dataset_id: key, old_id: dataset_id, name } as const;
  const carried = await carryOut(options, facts, writer.createDataset(newDataset(name, plan.settings)), find);
  if (carried.kind === "refused") throw new SkipError(`${carried.reason}; ${adviceOn(carried.status)}`);
  const [id] = madeBy(carried, "make the dataset");
  if (id === undefined) throw new SkipError("the service made the dataset, and nobody knows its id; restore again");
  return id;
}

function adviceOn(status: number): string {
  if (status === 409) return "the name was taken meanwhile: plan again";
  return "make a dataset with a model of that service there, and name it with --dataset";
}

function newDataset(name: string, settings: DatasetSettings): NewDataset {
  const { description, permission, indexing_technique, embedding_model, embedding_model_provider } = settings;
  const { retrieval_model, summary_index_setting } = settings;
  return {
    ...{ name, description, permission },
    ...(indexing_technique === null ? {} : { indexing_technique }),
    ...(embedding_model === null ? {} : { embedding_model }),
    ...(embedding_model_provider === null ? {} : { embedding_model_provider }),
    ...(retrieval_model === null ? {} : { retrieval_model }),
    ...(summary_index_setting === null ? {} : { summary_index_setting }),
  };
}
