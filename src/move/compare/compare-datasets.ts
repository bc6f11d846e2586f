import type { MoveDifference } from "../moved.js";
import { compareDataset, datasetPairKey } from "./compare-dataset.js";
import type { CompareOptions, DocumentPair } from "./compare-options.js";
import type { ReadDetails } from "./load-details.js";
import { refuseWithoutSettings } from "./unread.js";

/** Compares the settings of every dataset that has one of the documents, each pair of datasets once. */
export async function compareDatasets(
  { pairs, copies, live: dump }: Pick<CompareOptions, "pairs" | "copies" | "live">,
  { old, live }: { readonly old: ReadDetails; readonly live: ReadDetails },
): Promise<readonly MoveDifference[]> {
  const differences: MoveDifference[] = [];
  const datasets = datasetPairs(pairs);
  for (const { id, liveId } of datasets) {
    const [before, now] = [await old.dataset(id), await live.dataset(liveId)];
    if (before && !now && copies) refuseWithoutSettings(dump, `dataset ${liveId}`);
    const copied = copies?.datasets.get(datasetPairKey(id, liveId)) ?? null;
    const sentences = before && now ? compareDataset(before, now, copied) : [];
    const which = datasets.filter((each) => each.id === id).length > 1 ? ` (dataset ${liveId})` : "";
    differences.push(...sentences.map((reason) => ({ ...ofDataset(id), reason: reason + which })));
  }
  return differences;
}

/** The datasets of these documents in the dump and at the service, each pair once. */
function datasetPairs(pairs: readonly DocumentPair[]) {
  const datasets = pairs.map(({ old, live }) => ({ id: old.dataset_id, liveId: live.dataset_id }));
  return [...new Map(datasets.map((each) => [datasetPairKey(each.id, each.liveId), each])).values()];
}

function ofDataset(id: string) {
  return { level: "dataset", document_id: null, id, position: null } as const;
}
