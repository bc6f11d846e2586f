import type { DocumentChange } from "../../database/run-rows.js";
import type { DiscoveredIds } from "../../dump/manifest/manifest.js";
import type { Discovery, Found, ListedDataset, Listing } from "./discovery.js";
import type { EarlierListings } from "./earlier-listings.js";

/** A listing, and the run that its documents are compared with: the newest earlier one that knew all of them. */
export type ComparedListing = Listing & { readonly since: string | null };

/** Documents that are new or gone since earlier runs of the job. */
export interface Discovered {
  readonly changes: readonly DocumentChange[];
  readonly datasets: readonly ComparedListing[];
  /** The newest earlier run that asked which documents there are; null when there is none. */
  readonly since: string | null;
}

/** A dataset to compare: what it has now, and whether that is all of it. */
interface Subject {
  readonly id: string;
  readonly documents: readonly string[];
  readonly whole: boolean;
}

/** Stands for a dataset that the newest run did not know: every document of it is new. */
const nothing = { state: "listed", documents: [] };

/**
 * Compares the documents found with those of earlier runs, newest first; undefined when nothing was asked. A list that is not
 * whole tells of new documents only. A dataset that the newest run did not know is new; one that the service does not list
 * any more is gone if all datasets are known. Reads no more of the earlier runs than it takes.
 */
export async function compareDiscovery(
  { datasets, found }: Discovery,
  earlier: AsyncIterable<EarlierListings>,
): Promise<Discovered | undefined> {
  if (!found) return undefined;
  let subjects = subjectsOf(datasets, found);
  const compared = new Map<string, { readonly since: string; readonly changes: readonly DocumentChange[] }>();
  let since: string | null = null;
  for await (const run of earlier) {
    if (since === null) subjects = [...subjects, ...datasetsGone(found, run)];
    for (const subject of subjects) {
      const then = run.datasets.get(subject.id) ?? (since === null ? nothing : undefined);
      if (compared.has(subject.id) || then?.state !== "listed") continue;
      compared.set(subject.id, { since: run.runId, changes: changesOf(subject, then.documents) });
    }
    since ??= run.runId;
    if (compared.size === subjects.length) break;
  }
  return {
    since,
    changes: subjects.flatMap(({ id }) => compared.get(id)?.changes ?? []),
    datasets: found.listings.map((listing) => ({
      ...listing,
      since: compared.get(listing.dataset_id)?.since ?? null,
    })),
  };
}

/** The datasets whose documents are known, in the order of the job. */
function subjectsOf(datasets: readonly ListedDataset[], { listings }: Found): readonly Subject[] {
  const documentsOf = new Map(datasets.map(({ id, documents }) => [id, documents]));
  return listings
    .filter(({ state }) => state === "listed" || state === "unsettled")
    .map(({ dataset_id: id, state }) => ({ id, documents: documentsOf.get(id) ?? [], whole: state === "listed" }));
}

/** The datasets that a run knew and that are not listed any more; none where not all of them are known. */
function datasetsGone({ allDatasets, listings }: Found, { datasets }: EarlierListings): readonly Subject[] {
  if (!allDatasets) return [];
  const known = new Set(listings.map((listing) => listing.dataset_id));
  return [...datasets.keys()].filter((id) => !known.has(id)).map((id) => ({ id, documents: [], whole: true }));
}

function changesOf({ id, documents, whole }: Subject, before: readonly string[]): readonly DocumentChange[] {
  const changes = (change: DocumentChange["change"], ids: readonly string[]) =>
    ids.map((document_id): DocumentChange => ({ change, dataset_id: id, document_id }));
  return [
    ...changes("new", without(documents, before)),
    ...(whole ? changes("vanished", without(before, documents)) : []),
  ];
}

function without(ids: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return ids.filter((id) => !known.has(id));
}

/** The discovered documents in the form of the manifest. */
export function discoveredIds({ since, changes, datasets }: Discovered): DiscoveredIds {
  const ids = (kind: DocumentChange["change"]) =>
    changes.filter(({ change }) => change === kind).map(({ document_id }) => document_id);
  return { since, new: ids("new"), vanished: ids("vanished"), datasets };
}
