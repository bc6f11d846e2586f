import pLimit from "p-limit";
import type { NewDataset } from "../../../client/write/operations.js";
import { SkipError } from "../../../errors.js";
import { nameText } from "../../../words.js";
import { type CopyPlan, type DatasetPlan, type DatasetSettings, wishedName } from "../copy-plan.js";
import type { AppliedCopy } from "../copy-result.js";
import { type ApplyOptions, BatchSize } from "./apply-options.js";
import { type CopyDocumentOptions, copyDocument, type Home } from "./copy-document.js";
import { equipDataset } from "./equip-dataset.js";
import { executeWrite, findDataset, madeBy } from "./execute-write.js";

export type ApplyCopyOptions = Omit<ApplyOptions, "batchSize"> & Pick<CopyDocumentOptions, "retryFailed">;

/**
 * Executes a plan that was made after `reconcileWrites`: makes the datasets, and copies the documents, several at once, one writer for
 * each. A document that fails does not stop the others. Rejects with StopError where the key is refused or the disk fails, and with the
 * reason of the signal.
 */
export async function applyCopy({ datasets }: CopyPlan, options: ApplyCopyOptions): Promise<AppliedCopy> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const full = { ...options, signal, alone: pLimit(1), batchSize: new BatchSize() };
  countPlanned(datasets, full);
  const problems: string[] = [];
  const missingTags = new Map<string, readonly string[]>();
  const works = [];
  for (const dataset of datasets) {
    if (dataset.documents.length > 0 && dataset.documents.every(({ refused }) => refused !== null)) continue;
    const { missingTags: lacking = [], ...home } = await homeOf(dataset, full, problems);
    missingTags.set(dataset.key, lacking);
    for (const document of dataset.documents) if (document.refused === null) works.push({ document, home });
  }
  const limit = pLimit(options.concurrency);
  const documents = works.map(({ document, home }) =>
    limit(async () => {
      signal.throwIfAborted();
      return copyDocument(document, home, full);
    }),
  );
  for (const document of documents) document.catch((error: unknown) => stop.abort(error));
  await Promise.allSettled(documents);
  signal.throwIfAborted();
  const moved = { documents: await Promise.all(documents), problems, writes: options.journal.writes };
  return { moved, missingTags };
}

function countPlanned(datasets: readonly DatasetPlan[], { journal, retryFailed, progress }: ApplyCopyOptions): void {
  const coming = datasets.flatMap(({ documents }) => documents.filter(({ refused }) => refused === null));
  const toCopy = coming.filter(({ document_id }) => {
    const state = journal.facts.documents.get(document_id)?.state;
    return state !== "restored" && (state !== "failed" || retryFailed);
  });
  progress.documents = coming.length;
  progress.chunks = toCopy.reduce((sum, { chunks }) => sum + chunks, 0);
}

async function homeOf(
  plan: DatasetPlan,
  options: ApplyOptions,
  problems: string[],
): Promise<Home & { readonly missingTags?: readonly string[] }> {
  try {
    const id = await chooseDataset(plan, options);
    const equipped = await equipDataset(plan, id, options);
    problems.push(...equipped.problems);
    return { id, fields: equipped.fields, missingTags: equipped.missingTags };
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    const failure = `dataset ${nameText(wishedName(plan))}: ${error.message}`;
    problems.push(failure);
    return { failure };
  }
}

/** Makes the dataset of the target that takes the documents, or uses the one that is there; gives its id. SkipError where it cannot be. */
async function chooseDataset(plan: DatasetPlan, options: ApplyOptions): Promise<string> {
  const { journal } = options;
  const known = journal.facts.datasets.get(plan.key);
  if (plan.target.kind === "there") {
    if (known?.id !== plan.target.id) await journal.noteDataset(plan.key, plan.target);
    return plan.target.id;
  }
  return known?.id ?? createDataset(plan, plan.target.name, options);
}

async function createDataset(plan: DatasetPlan, name: string, options: ApplyOptions): Promise<string> {
  const { journal, writer } = options;
  const { key, dataset_id } = plan;
  if (journal.open.some((intent) => intent.write === "create dataset" && intent.dataset_id === key))
    throw new SkipError("it is not known whether an earlier process made the dataset; restore again later");
  const find = () => findDataset(options, name);
  const facts = { write: "create dataset", dataset_id: key, old_id: dataset_id, name } as const;
  const executed = await executeWrite(options, facts, writer.createDataset(newDataset(name, plan.settings)), find);
  if (executed.kind === "refused") throw new SkipError(`${executed.reason}; ${adviceOn(executed.status)}`);
  const [id] = madeBy(executed, "make the dataset");
  if (id === undefined) throw new SkipError("the service made the dataset, but its id is not known; restore again");
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
