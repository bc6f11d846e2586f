import type { MovePlan } from "../../restore/copy/copy-plan.js";

/** Names of datasets and documents by their ids in the dump; null where the id stands for a name that nobody knows. */
export function namesIn({ datasets }: MovePlan): ReadonlyMap<string, string | null> {
  const entry = (id: string, name: string) => [id, name === id ? null : name] as const;
  return new Map(
    datasets.flatMap(({ dataset_id, dataset_name, documents }) => [
      entry(dataset_id, dataset_name),
      ...documents.map(({ document_id, document_name }) => entry(document_id, document_name)),
    ]),
  );
}
