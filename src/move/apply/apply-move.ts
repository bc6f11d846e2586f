import pLimit from "p-limit";
import { SkipError } from "../../errors.js";
import { nameText } from "../../words.js";
import { wishedName } from "../dataset-key.js";
import type { DatasetPlan, MovePlan } from "../move-plan.js";
import type { AppliedMove } from "../moved.js";
import type { ApplyOptions } from "./apply-options.js";
import { type BringOptions, bringDocument, type Home } from "./bring-document.js";
import { equipDataset } from "./equip-dataset.js";
import { placeDataset } from "./place-dataset.js";
import { BatchSize } from "./rows/batch-size.js";

export type ApplyMoveOptions = Omit<ApplyOptions, "batchSize"> & Pick<BringOptions, "retryFailed">;

/**
 * Carries out a plan that was made after `settleWrites`: makes the datasets, and brings the documents, several at once, one writer for
 * each. A document that fails does not stop the others. Rejects with StopError where the key is refused or the disk fails, and with the
 * reason of the signal.
 */
export async function applyMove({ datasets }: MovePlan, options: ApplyMoveOptions): Promise<AppliedMove> {
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
      return bringDocument(document, home, full);
    }),
  );
  for (const document of documents) document.catch((error: unknown) => stop.abort(error));
  await Promise.allSettled(documents);
  signal.throwIfAborted();
  const moved = { documents: await Promise.all(documents), problems, writes: options.journal.writes };
  return { moved, missingTags };
}

function countPlanned(datasets: readonly DatasetPlan[], { journal, retryFailed, tally }: ApplyMoveOptions): void {
  const coming = datasets.flatMap(({ documents }) => documents.filter(({ refused }) => refused === null));
  const toBring = coming.filter(({ document_id }) => {
    const state = journal.facts.documents.get(document_id)?.state;
    return state !== "restored" && (state !== "failed" || retryFailed);
  });
  tally.documents = coming.length;
  tally.chunks = toBring.reduce((sum, { chunks }) => sum + chunks, 0);
}

async function homeOf(
  plan: DatasetPlan,
  options: ApplyOptions,
  problems: string[],
): Promise<Home & { readonly missingTags?: readonly string[] }> {
  try {
    const id = await placeDataset(plan, options);
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
