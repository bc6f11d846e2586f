import { datasetIdOf } from "../dataset-key.js";
import type { JournalFacts } from "../journal-facts.js";
import type { Loss, LossPart, MovePlan } from "../move-plan.js";
import type { AppliedMove } from "../moved.js";
import { type CopiedDataset, datasetPairKey } from "./compare-dataset.js";
import type { Copies } from "./compare-options.js";

/** The facts of copies that a plan made: everything that it announced is expected. `moved`: rows that failed were reported. */
export function copiesOfPlan(plan: MovePlan, facts: JournalFacts, { moved, missingTags }: AppliedMove): Copies {
  const documents = plan.datasets.flatMap((dataset) => dataset.documents);
  const kept = documents.flatMap(({ attachments }) => attachments.filter(({ file }) => file === null));
  const keptIds = new Set(kept.map(({ id }) => id));
  return {
    from: plan.from,
    datasets: new Map(
      plan.datasets.map(({ key, dataset_id, target }) => [
        datasetPairKey(dataset_id, facts.datasets.get(key)?.id ?? ""),
        {
          name: target.name,
          adopted: facts.datasets.get(key)?.adopted ?? false,
          missingTags: new Set(missingTags.get(key)),
        },
      ]),
    ),
    losses: new Map(documents.map(({ document_id, losses }) => [document_id, partsOf(losses)])),
    attachmentOf: (id) => facts.attachments.get(id) ?? (keptIds.has(id) ? id : undefined),
    failed: new Set(moved.documents.flatMap(({ failed }) => failed.map(({ id }) => id))),
  };
}

/** The facts of copies that a journal knows. `isSameService`: the copies are where the run came from, and so are the attachments. */
export function copiesOfJournal(facts: JournalFacts, isSameService: boolean): Copies {
  const datasets = [...facts.datasets].map(([key, { id, name, adopted = false }]): [string, CopiedDataset] => [
    datasetPairKey(datasetIdOf(key), id),
    { name, adopted },
  ]);
  return {
    from: facts.from ?? "chunks",
    datasets: new Map(datasets),
    losses: new Map(),
    attachmentOf: (id) => facts.attachments.get(id) ?? (isSameService ? id : undefined),
    failed: new Set(),
  };
}

function partsOf(losses: readonly Loss[]): ReadonlySet<LossPart> {
  return new Set(losses.map(({ part }) => part));
}
