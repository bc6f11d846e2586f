import type { DocumentList } from "../crawl/document-list-file.js";
import { shardOf } from "../crawl/shards.js";

/** A list of documents, and the shards that used it. */
export interface SharedList {
  readonly list: DocumentList;
  readonly shards: readonly number[];
}

/** The merged list of all shards. */
export interface MergedList {
  readonly list: DocumentList;
  /** Sentences about differences that make it uncertain which documents existed. */
  readonly differences: readonly string[];
  /** Sentences about differences that leave no doubt about the documents. */
  readonly notes: readonly string[];
  readonly unlisted: readonly UnlistedDocument[];
}

/** A document that its own shard does not list. */
interface UnlistedDocument {
  readonly dataset_id: string;
  readonly document_id: string;
  /** The index of its own shard, and of those that list it. */
  readonly own: number;
  readonly listedBy: readonly number[];
}

type ListedDataset = DocumentList["datasets"][number];

/** A dataset, and the shards that list it. */
interface SharedDataset extends ListedDataset {
  readonly shards: readonly number[];
}

const remedy = "kbdump plan --documents-out and kbdump run --documents-from give all shards one list";

/**
 * Merges the lists: in the order of the first list, followed in each dataset by the documents that only others have.
 * `count` is the number of shards.
 */
export function mergeLists(lists: readonly SharedList[], count: number): MergedList {
  const [first, ...others] = lists;
  if (!first) throw new Error("there is no list");
  if (others.length === 0) return { list: first.list, differences: [], notes: [], unlisted: [] };
  const unlisted: UnlistedDocument[] = [];
  const found = new Map<string, SharedDataset[]>();
  for (const { list, shards } of lists)
    for (const dataset of list.datasets)
      found.set(dataset.dataset_id, [...(found.get(dataset.dataset_id) ?? []), { ...dataset, shards }]);
  const listed = lists.flatMap(({ shards }) => shards).length;
  const datasets: ListedDataset[] = [];
  const differing: string[] = [];
  const unsettled: string[] = [];
  for (const [id, same] of found) {
    const listedBy = new Map<string, number[]>();
    for (const { documents, shards } of same)
      for (const documentId of documents) listedBy.set(documentId, [...(listedBy.get(documentId) ?? []), ...shards]);
    for (const [documentId, shards] of listedBy) {
      const own = shardOf(id, documentId, count);
      if (!shards.includes(own)) unlisted.push({ dataset_id: id, document_id: documentId, own, listedBy: shards });
      if (shards.length < listed) unsettled.push(documentId);
    }
    const isSettled = same.length === lists.length && same.every(({ state }) => state === same[0]?.state);
    if (!isSettled || same.some(({ documents }) => documents.length < listedBy.size)) differing.push(id);
    datasets.push({
      dataset_id: id,
      name: same.find(({ name }) => name !== null)?.name ?? null,
      state: (isSettled && same[0]?.state) || "unsettled", // the shards' lists have different states, so documents may be missing
      documents: [...listedBy.keys()],
    });
  }
  const which = unsettled.length > 0 ? `; only some list document ${firstOf(unsettled)}` : "";
  const differences = `the lists of documents of the shards differ, in dataset ${firstOf(differing)}${which}: ${remedy}`;
  const note = `the lists of documents of the shards differ in order or names, so those of shard ${first.shards[0]} were taken; ${remedy}`;
  return {
    list: { format: 1, datasets: datasets.sort(bySkipped), ...sumOfLists(lists) },
    differences: differing.length > 0 ? [differences] : [],
    notes: differing.length > 0 ? [] : [note],
    unlisted,
  };
}

function bySkipped(one: ListedDataset, other: ListedDataset): number {
  return Number(one.state === "skipped") - Number(other.state === "skipped");
}

/** Merges everything in the lists that is not part of a dataset. */
function sumOfLists(lists: readonly SharedList[]): Pick<DocumentList, "all_datasets" | "failures" | "notes"> {
  const all = lists.map(({ list }) => list.all_datasets);
  return {
    all_datasets: all.includes(null) ? null : all.every((known) => known === true),
    failures: [...new Set(lists.flatMap(({ list }) => list.failures))],
    notes: [...new Set(lists.flatMap(({ list }) => list.notes))],
  };
}

/** `shard 3` or `shards 1, 2`. */
export function shardsText(shards: readonly number[]): string {
  const sorted = shards.toSorted((one, other) => one - other);
  return `${sorted.length === 1 ? "shard" : "shards"} ${firstOf(sorted)}`;
}

/** Maximum names to list in a sentence. */
const shown = 20;

/** The first items, and how many more there are. */
function firstOf(items: readonly (string | number)[]): string {
  const more = items.length - shown;
  return `${items.slice(0, shown).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
