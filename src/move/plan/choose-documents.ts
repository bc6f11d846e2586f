import type { Manifest } from "../../dump/manifest/manifest.js";
import type { Dump } from "../../dump/open-dump.js";
import { groupRows } from "../../restore/group-rows.js";
import { nameAndId, shardText } from "../../words.js";
import { datasetKey } from "../dataset-key.js";
import { shownId } from "./ask-target.js";
import { type DatasetDetails, unknownDataset } from "./details.js";
import type { DumpDetails } from "./read-details.js";
import { formIn } from "./read-dump.js";

type DumpedDocument = Manifest["documents"][number];

/** A dataset of a dump, and those of its documents that are to come and have one form, in the order of the dump. */
export interface ChosenDataset {
  readonly key: string;
  readonly details: DatasetDetails;
  /** Its id where the run does not know its name. */
  readonly name: string;
  /** Null where it is empty. */
  readonly form: string | null;
  readonly documents: readonly DumpedDocument[];
}

/**
 * Chooses the datasets of these documents, once for each form that the documents have; without any, all of the dump, those that are
 * empty included. All documents of the dump decide on the keys: the same document always has the same.
 */
export function chooseDatasets(
  { manifest }: Dump,
  reading: DumpDetails,
  chosen: readonly string[],
): readonly ChosenDataset[] {
  const { datasets } = reading;
  const datasetOf = ({ dataset_id }: DumpedDocument) => dataset_id;
  const formOf = (document: DumpedDocument) => formIn(reading, document);
  const ids = new Set(chosen);
  const documents = manifest.documents.filter(({ document_id }) => ids.size === 0 || ids.has(document_id));
  const groups = groupRows(documents, datasetOf);
  const all = groupRows(manifest.documents, datasetOf);
  const listings = new Map(manifest.discovered?.datasets.map((listing) => [listing.dataset_id, listing]));
  const isEmpty = (id: string) => ids.size === 0 && listings.get(id)?.state === "listed";
  const ordered = [...datasets.keys()].filter((id) => groups.has(id) || isEmpty(id));
  return [...new Set([...ordered, ...groups.keys()])].flatMap((id): readonly ChosenDataset[] => {
    const details = datasets.get(id) ?? unknownDataset(id);
    const named = { details, name: details.name || listings.get(id)?.name || id };
    const own = groupRows(groups.get(id) ?? [], formOf);
    if (own.size === 0) return [{ ...named, key: id, form: null, documents: [] }];
    const mainForm = mostFrequent((all.get(id) ?? []).map(formOf));
    return [...own].map(([form, documents]) => ({ ...named, key: datasetKey(id, form, mainForm), form, documents }));
  });
}

/** The text that is there most often; of several, the first. */
function mostFrequent(texts: readonly string[]): string {
  const groups = [...groupRows(texts, (text) => text)];
  const most = Math.max(...groups.map(([, own]) => own.length));
  return groups.find(([, own]) => own.length === most)?.[0] ?? "";
}

/** Sentences on documents that a run lacks, or may lack. */
export function listingWarnings({ manifest: { discovered, shard } }: Dump): readonly string[] {
  const others =
    shard && shard.count > 1
      ? [
          `the run is ${shardText(shard)}, and lacks the documents and settings that the others read; join the shards, and restore the joined run`,
        ]
      : [];
  const flaws = (discovered?.datasets ?? [])
    .filter(({ state }) => state === "failed" || state === "unsettled")
    .map(({ dataset_id, name }) => {
      const which = nameAndId(name, shownId(dataset_id));
      return `the run may lack documents of the dataset ${which}: the service did not list all of them`;
    });
  return [...others, ...flaws];
}
