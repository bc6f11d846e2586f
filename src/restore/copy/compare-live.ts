import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { loadDocumentRows } from "../../compare/load-document-rows.js";
import { type DocumentPair, pairForProof } from "../../compare/proof/proof-pairs.js";
import type { RowDifference } from "../../compare/proof/prove.js";
import { compareCopy, compareSame, notProved, refuseUnread } from "../../compare/proof/prove.js";
import { type Connection, withSpill } from "../../duckdb/open-duckdb.js";
import { rowsOf } from "../../duckdb/read-rows.js";
import type { Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/row.js";
import { countOf } from "../../words.js";
import type { JournalFacts } from "../journal-facts.js";

import { type DumpProgress, haveChildren, readLive, type TargetReading, type TargetService } from "../target.js";
import { datasetIdOf } from "./copy-plan.js";
import type { AppliedCopy, CopyDifference } from "./copy-result.js";
import { formedDocuments, keepComing } from "./read-dump.js";
import {
  type CopiedDataset,
  compareDataset,
  compareDocument,
  type DumpDetails,
  detailsIn,
  readDetails,
} from "./settings.js";

/** Dumps documents of a service and compares them with a dump. Rejects like a run and like `compareDumps`. */
export async function compareLive({ api, service, name, dir, progress, ...compared }: LiveOptions) {
  const { old, pairs, copies } = compared;
  const { memory, signal } = service;
  // A copy has child chunks only if the run has some. The same document may have new ones anywhere.
  const mayHaveNew = copies === null && old.manifest.options.child_chunks === "all";
  const documents = pairs.map((pair) => pair.old);
  const hasChildren = mayHaveNew || haveChildren(old, documents);
  const reading = { name, dir, pairs, hasChildren, details: detailsIn(old) };
  const { dump, ...live } = await readLive(api, service, reading, progress);
  const found = dump
    ? await compareDumps({ ...compared, live: dump, pairs: live.pairs, memory, signal })
    : nothingCompared;
  const gone = live.gone.map((pair) => differenceOf("document", pair.old.document_id, "the service does not have it"));
  return { ...found, dump, differences: [...gone, ...found.differences] };
}

const nothingCompared = {
  differences: [] as readonly CopyDifference[],
  /** Rows of the run that were compared. */
  rows: { chunks: 0, child_chunks: 0 },
  /** Blank rows of the run, which have no copy. */
  refused: { chunks: 0, child_chunks: 0 },
  /** How many documents and datasets have settings in the run, but not in the dump of the service. */
  unread: { document: 0, dataset: 0 },
};

/** The findings of a comparison, and how much was compared. */
export type Comparison = Readonly<typeof nothingCompared>;

type Compared = Omit<CompareOptions, "live" | keyof TargetService>;

interface LiveOptions extends Compared, Pick<TargetReading, "name" | "dir"> {
  readonly api: KnowledgeApi;
  readonly service: TargetService;
  readonly progress: DumpProgress;
}

/**
 * Compares documents of a dump with those of a service, one at a time. Throws StopError if one was not read completely, or a file
 * differs from its manifest: then nothing is proved.
 */
export async function compareDumps(options: CompareOptions): Promise<Comparison> {
  const { old, pairs, copies, signal } = options;
  refuseUnread(options.live);
  return withSpill(":memory:", options, async (connection) => {
    const open = async (name: "old" | "live"): Promise<DumpDetails> => {
      const documents = pairs.map((pair) => pair[name]);
      const details = await readDetails(connection, options[name], options);
      await loadDocumentRows(connection, name, options[name], documents, options);
      return details;
    };
    const sides = { old: await open("old"), live: await open("live") };
    if (old.manifest.options.child_chunks === "none") await connection.run("DELETE FROM live_child_chunks");
    const all = await countOld(connection);
    if (copies) await keepComing(connection, formedDocuments(old.manifest, sides.old));
    const rows = await countOld(connection);
    const refused = { chunks: all.chunks - rows.chunks, child_chunks: all.child_chunks - rows.child_chunks };
    const by = copies ? ({ by: "text", without: copies.failed } as const) : ({ by: "id" } as const);
    const pairsOf = await pairForProof(connection, pairs, by);
    const unread = { document: 0, dataset: 0 };
    const onUnread: OnUnread = (level, id) => {
      // The settings of a copy were written by this program, so they must be there.
      if (copies) throw notProved(`the settings of ${level} ${id} could not be read`, options.live.manifest.warnings);
      unread[level]++;
    };
    const differences = [...compareDatasets(options, sides, onUnread)];
    for (const [nr, pair] of pairs.entries()) {
      signal.throwIfAborted();
      const { document_id } = pair.old;
      const before = sides.old.documents.get(documentKey(pair.old));
      const now = sides.live.documents.get(documentKey(pair.live));
      if (before && !now) onUnread("document", pair.live.document_id);
      const fields = sides.old.datasets.get(pair.old.dataset_id)?.fields;
      const sentences = before && now ? compareDocument(before, now, copies && { fields }) : [];
      const mayBeDisabled = now?.enabled === false || now?.archived === true;
      const found = copies ? compareCopy(pairsOf(nr), { ...copies, mayBeDisabled }) : compareSame(pairsOf(nr));
      const { listed, more } = await listRows(found);
      differences.push(
        ...[...sentences, ...more].map((reason) => differenceOf("document", document_id, reason)),
        ...listed.map((difference) => ({ ...difference, document_id })),
      );
      options.onDocument?.();
    }
    return { differences, rows, refused, unread };
  });
}

/** Called for settings that the run has, and the dump of the service lacks. */
type OnUnread = (level: keyof Comparison["unread"], id: string) => void;

type Sides = Readonly<Record<"old" | "live", DumpDetails>>;

/** Counts the loaded rows of the run. */
async function countOld(connection: Connection): Promise<Comparison["rows"]> {
  const [chunks] = await rowsOf(connection, "SELECT count(*) AS rows FROM old_chunks");
  const [children] = await rowsOf(connection, "SELECT count(*) AS rows FROM old_child_chunks");
  return { chunks: Number(chunks?.rows), child_chunks: Number(children?.rows) };
}

/** Compares the settings of the datasets that contain the documents, each pair of datasets once. */
function compareDatasets(
  { pairs, copies }: CompareOptions,
  { old, live }: Sides,
  onUnread: OnUnread,
): readonly CopyDifference[] {
  const all = pairs.map((pair) => ({ id: pair.old.dataset_id, liveId: pair.live.dataset_id }));
  const datasets = [...new Map(all.map((each) => [datasetPairKey(each.id, each.liveId), each])).values()];
  return datasets.flatMap(({ id, liveId }) => {
    const [before, now] = [old.datasets.get(id), live.datasets.get(liveId)];
    if (!before) return [];
    if (!now || (now.name === null && before.name !== null)) {
      onUnread("dataset", liveId);
      return [];
    }
    const sentences = compareDataset(before, now, copies?.datasets.get(datasetPairKey(id, liveId)) ?? null);
    const which = datasets.filter((each) => each.id === id).length > 1 ? ` (dataset ${liveId})` : "";
    return sentences.map((reason) => differenceOf("dataset", id, reason + which));
  });
}

/** A difference of a whole dataset or document. */
export function differenceOf(level: "dataset" | "document", id: string, reason: string): CopyDifference {
  return { level, document_id: level === "document" ? id : null, id, position: null, reason };
}

/** Maximum row differences to list per document. */
const mostListed = 100;

/** The first row differences of a document, and sentences that count the others. */
async function listRows(
  differences: AsyncIterable<RowDifference>,
): Promise<{ readonly listed: readonly RowDifference[]; readonly more: readonly string[] }> {
  const listed: RowDifference[] = [];
  const rest = { chunk: 0, child_chunk: 0 };
  for await (const difference of differences) {
    if (listed.length < mostListed) listed.push(difference);
    else rest[difference.level]++;
  }
  const { chunk, child_chunk } = rest;
  const counts = countsOf([chunk, "more chunk"], [child_chunk, "more child chunk"]);
  return { listed, more: counts.map((text) => `${text} of it ${chunk + child_chunk === 1 ? "differs" : "differ"}`) };
}

/** `2 chunks and 1 child chunk`; empty if there are none. */
export function countsOf(...counts: readonly (readonly [count: number, noun: string])[]): readonly string[] {
  const found = counts.filter(([count]) => count > 0).map(([count, noun]) => countOf(count, noun));
  return found.length > 0 ? [found.join(" and ")] : [];
}

/** The facts of documents that were restored as copies. */
export interface Copies {
  /** By `datasetPairKey`. */
  readonly datasets: ReadonlyMap<string, CopiedDataset>;
  /** The id at the service of an attachment of the dump; undefined if its loss was announced. */
  readonly attachmentOf: (id: string) => string | undefined;
  /** Ids in the dump of rows that failed to copy; already reported. */
  readonly failed: ReadonlySet<string>;
}

interface CompareOptions extends Pick<TargetService, "memory" | "signal"> {
  readonly old: Dump;
  /** A dump of the documents of all `pairs`, with `details` if the old one has them. */
  readonly live: Dump;
  readonly pairs: readonly DocumentPair[];
  /** Null: these are the same documents, with the same ids. */
  readonly copies: Copies | null;
  /** Called after each document. */
  readonly onDocument?: () => void;
}

/**
 * Collects the facts about copies from their journal. `isSameService`: the copies are at the service of the run, so attachments have
 * the same ids. `applied`: the results of this command. Their problems and failed rows are already reported, and their plan has the
 * current names of datasets.
 */
export function copiesOf(
  facts: JournalFacts,
  isSameService: boolean,
  { plan, copied, missingTags }: Partial<AppliedCopy> = {},
): Copies {
  const names = new Map(plan?.datasets.map(({ key, target }) => [key, target.name]));
  const datasets = [...facts.datasets].map(([key, { id, name, existed = false }]): [string, CopiedDataset] => [
    datasetPairKey(datasetIdOf(key), id),
    { name: names.get(key) ?? name, existed, missingTags: missingTags?.get(key) ?? [] },
  ]);
  return {
    datasets: new Map(datasets),
    attachmentOf: (id) => facts.attachments.get(id) ?? (isSameService ? id : undefined),
    failed: new Set(copied?.documents.flatMap(({ failed }) => failed.map(({ id }) => id))),
  };
}

/** A document of the dump, and its copy according to the journal; undefined if it has none. */
export function copyPair(old: DocumentPair["old"], { documents }: JournalFacts): DocumentPair | undefined {
  const copy = documents.get(old.document_id);
  return copy && { old, live: { dataset_id: copy.target_dataset_id, document_id: copy.target_id } };
}

/** The key of a pair: a dataset of the dump, and a dataset of the service with its copies. A dataset may be in several pairs. */
export function datasetPairKey(id: string, liveId: string): string {
  return `${id}/${liveId}`;
}
