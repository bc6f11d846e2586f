import { shardOf } from "../crawl/discovery.js";
import type { DocumentList } from "../crawl/document-list.js";
import { documentKey } from "../rows/row.js";
import { countOf } from "../words.js";

/** A list of documents, and the shards that worked from it. */
export interface SharedList {
  readonly list: DocumentList;
  readonly shards: readonly number[];
}

/** The documents of all shards. */
export interface MergedList {
  readonly list: DocumentList;
  /** A sentence for each difference of the lists that leaves open which documents there were. */
  readonly differences: readonly string[];
  /** Sentences on other differences. */
  readonly notes: readonly string[];
  /** Documents that their own shard did not list, by their keys. */
  readonly unlisted: ReadonlyMap<string, Unlisted>;
}

/** A document that is not in every list. */
interface Unlisted {
  /** The shard that is to read it. */
  readonly own: number;
  /** The shards that list it. */
  readonly listedBy: readonly number[];
}

type ListedDataset = DocumentList["datasets"][number];

/** Names that a sentence lists. */
const shown = 20;

const remedy = "kbdump plan --documents-out and kbdump run --documents-from give all shards one list";

/**
 * One list of all documents: in the order of the first list, and at the end of each dataset the documents that only others have.
 * `count` is that of the shards.
 */
export function mergeLists(lists: readonly SharedList[], count: number): MergedList {
  const [first, ...others] = lists;
  if (!first) throw new Error("there is no list");
  if (others.length === 0) return { list: first.list, differences: [], notes: [], unlisted: new Map() };
  const differing = shardsOfDiffering(lists, count);
  const states = stateSentences(lists);
  const documents = documentSentences(differing, count);
  const isOrderOnly = states.length + documents.length === 0;
  return {
    list: unionOf(lists),
    differences: isOrderOnly ? [] : [...documents, ...states, `the lists of documents of the shards differ: ${remedy}`],
    notes: isOrderOnly
      ? [
          `the lists of documents of the shards have another order or other names, so those of shard ${first.shards[0]} were taken; ${remedy}`,
        ]
      : [],
    unlisted: new Map([...differing].filter(([, { own, listedBy }]) => !listedBy.includes(own))),
  };
}

interface Differing extends Unlisted {
  readonly documentId: string;
  readonly listedBy: number[];
}

/** Documents that are not in every list, by their keys. */
function shardsOfDiffering(lists: readonly SharedList[], count: number): ReadonlyMap<string, Differing> {
  const counts = new Map<string, number>();
  for (const { list } of lists) for (const { key } of documentsIn(list)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const differing = new Map<string, Differing>();
  for (const { list, shards } of lists) {
    for (const { key, datasetId, documentId } of documentsIn(list)) {
      if (counts.get(key) === lists.length) continue;
      const own = shardOf(datasetId, documentId, count);
      const known = differing.get(key) ?? { documentId, own, listedBy: [] };
      known.listedBy.push(...shards);
      differing.set(key, known);
    }
  }
  return differing;
}

/** The documents of a list, in its order. */
export function* documentsIn({ datasets }: DocumentList) {
  for (const { dataset_id: datasetId, documents } of datasets)
    for (const documentId of documents)
      yield { datasetId, documentId, key: documentKey({ dataset_id: datasetId, document_id: documentId }) };
}

/** A sentence for all documents that the same shards list. */
function documentSentences(differing: ReadonlyMap<string, Differing>, count: number): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { documentId, listedBy } of differing.values()) {
    const who = shardsText(listedBy);
    const group = groups.get(who) ?? [];
    group.push(documentId);
    groups.set(who, group);
  }
  return [...groups].map(
    ([who, ids]) => `only ${who} of ${count} listed ${countOf(ids.length, "document")}: ${firstOf(ids)}`,
  );
}

/** A sentence for each dataset whose list the shards did not find in the same state. */
function stateSentences(lists: readonly SharedList[]): readonly string[] {
  const found = new Map<string, Map<string, number[]>>();
  for (const { list, shards } of lists) {
    for (const { dataset_id: id, state } of list.datasets) {
      const states = found.get(id) ?? new Map<string, number[]>();
      states.set(state, [...(states.get(state) ?? []), ...shards]);
      found.set(id, states);
    }
  }
  const all = lists.reduce((sum, { shards }) => sum + shards.length, 0);
  return [...found].flatMap(([id, states]) => {
    const texts = [...states].map(([state, shards]) => `${state} by ${shardsText(shards)}`);
    const known = [...states.values()].reduce((sum, { length }) => sum + length, 0);
    const isSame = states.size === 1 && known === all;
    return isSame
      ? []
      : [`dataset ${id} was ${texts.join(", and ")}${known < all ? ", and unknown to the others" : ""}`];
  });
}

function unionOf(lists: readonly SharedList[]): DocumentList {
  const datasets = new Map<string, ListedDataset[]>();
  for (const { list } of lists)
    for (const dataset of list.datasets) {
      const same = datasets.get(dataset.dataset_id) ?? [];
      same.push(dataset);
      datasets.set(dataset.dataset_id, same);
    }
  const merged = [...datasets].map(([id, same]) => mergeDatasets(id, same, same.length === lists.length));
  const all = lists.map(({ list }) => list);
  return {
    format: 1,
    datasets: merged.toSorted((one, other) => Number(one.state === "skipped") - Number(other.state === "skipped")),
    all_datasets: all.some(({ all_datasets: known }) => known === null)
      ? null
      : all.every(({ all_datasets: known }) => known === true),
    failures: [...new Set(all.flatMap(({ failures }) => failures))],
    notes: [...new Set(all.flatMap(({ notes }) => notes))],
  };
}

/** A list that some found otherwise may lack documents. */
function mergeDatasets(id: string, same: readonly ListedDataset[], isKnownToAll: boolean): ListedDataset {
  const states = new Set(same.map(({ state }) => state));
  const [state = "unsettled"] = states.size === 1 && isKnownToAll ? states : [];
  return {
    dataset_id: id,
    name: same.find(({ name }) => name !== null)?.name ?? null,
    state,
    documents: [...new Set(same.flatMap(({ documents }) => documents))],
  };
}

/** `shard 3`, `shards 1, 2`. */
export function shardsText(shards: readonly number[]): string {
  const sorted = shards.toSorted((one, other) => one - other);
  return `${sorted.length === 1 ? "shard" : "shards"} ${firstOf(sorted)}`;
}

/** The first items, and how many more there are. */
function firstOf(items: readonly (string | number)[]): string {
  const more = items.length - shown;
  return `${items.slice(0, shown).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
