import { type Connection, withSpill } from "../../duckdb/open-duckdb.js";
import { rowsOf } from "../../duckdb/read-rows.js";
import type { Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/row.js";
import { countOf } from "../../words.js";
import { loadDocumentRows } from "../load-document-rows.js";
import { type LivePair, pairForProof } from "./proof-pairs.js";
import {
  compareCopy,
  compareSame,
  type DumpDifference,
  differenceOf,
  notProved,
  type RowDifference,
  refuseUnread,
} from "./prove.js";
import { type CopiedDataset, compareDataset, compareDocument, type DumpDetails, readDetails } from "./settings.js";

/**
 * Compares documents of a dump with those of a service, one at a time. Throws StopError if one was not read completely, or a file
 * differs from its manifest: then nothing is proved.
 */
export async function compareDumps(options: CompareOptions): Promise<DumpComparison> {
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
    if (copies) await options.leaveOut(connection, sides.old);
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

export const nothingCompared = {
  differences: [] as readonly DumpDifference[],
  /** Rows of the run that were compared. */
  rows: { chunks: 0, child_chunks: 0 },
  /** Rows of the run that no copy can have: blank ones, and children whose chunk is not copied. */
  refused: { chunks: 0, child_chunks: 0 },
  /** How many documents and datasets have settings in the run, but not in the dump of the service. */
  unread: { document: 0, dataset: 0 },
};

/** The findings of a comparison, and how much was compared. */
export type DumpComparison = Readonly<typeof nothingCompared>;

/** Called for settings that the run has, and the dump of the service lacks. */
type OnUnread = (level: keyof DumpComparison["unread"], id: string) => void;

type Sides = Readonly<Record<"old" | "live", DumpDetails>>;

/** Counts the loaded rows of the run. */
async function countOld(connection: Connection): Promise<DumpComparison["rows"]> {
  const [chunks] = await rowsOf(connection, "SELECT count(*) AS rows FROM old_chunks");
  const [children] = await rowsOf(connection, "SELECT count(*) AS rows FROM old_child_chunks");
  return { chunks: Number(chunks?.rows), child_chunks: Number(children?.rows) };
}

/** Compares the settings of the datasets that contain the documents, each pair of datasets once. */
function compareDatasets(
  { pairs, copies }: CompareOptions,
  { old, live }: Sides,
  onUnread: OnUnread,
): readonly DumpDifference[] {
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

/** One text, such as `2 chunks and 1 child chunk`; none if all counts are 0. */
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

export interface CompareOptions {
  readonly old: Dump;
  /** A dump of the documents of all `pairs`, with `details` if the old one has them. */
  readonly live: Dump;
  readonly pairs: readonly LivePair[];
  /** Null: these are the same documents, with the same ids. */
  readonly copies: Copies | null;
  /** For copies: deletes the rows that no copy can have from the `old` tables of `loadDocumentRows`. */
  readonly leaveOut: (connection: Connection, details: DumpDetails) => Promise<void>;
  /** Called after each document. */
  readonly onDocument?: () => void;
  /** Maximum memory of DuckDB, in its notation. */
  readonly memory: string;
  readonly signal: AbortSignal;
}

/** The key of a pair: a dataset of the dump, and a dataset of the service with its copies. A dataset may be in several pairs. */
export function datasetPairKey(id: string, liveId: string): string {
  return `${id}/${liveId}`;
}
