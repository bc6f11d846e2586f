import { join } from "node:path";
import { discoveryFrom } from "../crawl/document-list-file.js";
import { shardOf } from "../crawl/shards.js";
import type { TextFormat } from "../dump/formats/format.js";
import type { SegmentFile } from "../files/join-segments.js";
import { readTextPieces, splitLines } from "../files/lines.js";
import type { Job, Shard } from "../job/job.js";
import { assignPaths } from "../originals/file-names.js";
import type { HeldOriginal } from "../originals/save-originals.js";
import type { Kind } from "../rows/columns.js";
import { documentKey, type Row } from "../rows/row.js";
import { sumOfDrift } from "../rows/row-from-record.js";
import { type StatusFacts, warningsOfStatus } from "../run/read-everything.js";
import { incompleteTexts, type Reading } from "../run/reading.js";
import { type DumpedDocument, documentKinds, failedDocument, isFinished } from "../segments/document-result.js";
import { shardText } from "../words.js";
import { makeSegments, rowFromLine } from "./make-segments.js";
import { type MergedList, shardsText } from "./merge-lists.js";
import { refusal, type ShardDump } from "./prove-shards.js";

interface GatherOptions {
  readonly job: Job;
  readonly merged: MergedList;
  /** The folder for files that are needed until the dump is made. */
  readonly scratch: string;
  readonly formats: readonly TextFormat[];
  readonly signal: AbortSignal;
  /** Returns the command that makes a shard. */
  readonly command: (shard: Shard) => string;
}

/** Gathers the rows of all shards as one run would have read them. Rows of chunks and child chunks stay in their files. */
export async function gatherShards(shards: readonly ShardDump[], options: GatherOptions): Promise<Reading> {
  const { job, merged } = options;
  const order = orderOf(merged);
  const rowsOf = async (kind: Kind, place: (row: Row) => number) => sortBy(await rowsOfKind(shards, kind), place);
  const has = (kind: Kind) => shards.some(({ dump }) => dump.tablesOf([kind]));
  const { rows, segments } = await listedDocuments(shards, order, options);
  const discovery = discoveryFrom({ ...merged.list, rows, drift: {}, pages: 0 }, job);
  const manifests = shards.map(({ dump }) => dump.manifest);
  const documents = await acceptDocuments(shards, order, options);
  const { before, after } = splitReadings(await rowsOf("indexing_status", order.dataset));
  const times = (name: "started_at" | "finished_at") => manifests.map((manifest) => Date.parse(manifest[name]));
  return {
    startedAt: new Date(Math.min(...times("started_at"))),
    finishedAt: new Date(Math.max(...times("finished_at"))),
    discovery,
    listed: segments,
    list: undefined,
    documents,
    rows: {
      indexing_status: [...before, ...after],
      metadata_fields: await rowsOf("metadata_fields", order.dataset),
      datasets: has("datasets") ? await rowsOf("datasets", order.dataset) : undefined,
      document_details: has("document_details") ? await rowsOf("document_details", order.document) : undefined,
    },
    originals: job.originals ? joinOriginals(shards, order) : undefined,
    isWhole: merged.differences.length === 0 && manifests.every(({ status }) => status === "complete"),
    warnings: warningsOf(shards, merged, { discovery, documents, before: { rows: before }, after: { rows: after } }),
    drift: sumOfDrift(manifests.map(({ drift }) => drift)),
    joined: {
      shards: shards.map(({ dump, shard, manifestHash }) => ({
        index: shard.index,
        run_id: dump.manifest.run_id,
        manifest_sha256: manifestHash,
      })),
    },
  };
}

/** Warnings from the lists, from the shards in order, and from the combined indexing status, each once. */
function warningsOf(
  shards: readonly ShardDump[],
  { differences, notes }: MergedList,
  facts: StatusFacts,
): readonly string[] {
  const ofShards = shards.flatMap(({ dump }) => dump.manifest.warnings);
  const reported = new Set(incompleteTexts(facts));
  const all = new Set([...differences, ...notes, ...ofShards, ...warningsOfStatus(facts)]);
  return [...all].filter((sentence) => !reported.has(sentence));
}

/**
 * The documents of all shards in the order of the list, accepted like documents from workers and earlier processes. A document that its own
 * shard did not list counts as failed.
 */
async function acceptDocuments(
  shards: readonly ShardDump[],
  order: Order,
  options: GatherOptions,
): Promise<readonly DumpedDocument[]> {
  const { merged, formats, command } = options;
  const accepted: DumpedDocument[] = new Array(order.documents);
  const names = formats.map(({ format }) => format);
  for (const shard of shards) {
    const { dump, documents } = shard;
    const segments = new Map(documents.map(({ row }): [string, SegmentFile[]] => [documentKey(row), []]));
    for (const kind of documentKinds)
      await readSegments(shard, kind, options, (ids, segment) => segments.get(documentKey(ids))?.push(segment));
    for (const document of documents) {
      const { row } = document;
      document.files = [...(segments.get(documentKey(row)) ?? [])]; // a copied array is exactly as large as needed
      if (!isFinished({ datasetId: row.dataset_id, documentId: row.document_id }, document, names))
        throw refusal([`${dump.folder}: document ${row.document_id} lacks its proof or its rows`]);
      accepted[order.document(row)] = document;
    }
  }
  for (const { own, listedBy, ...document } of merged.unlisted) {
    const shard = { index: own, count: shards.length };
    const error = `${shardText(shard)}, which reads it, did not list it, and ${shardsText(listedBy)} did; make that shard again and join again: ${command(shard)}`;
    accepted[order.document(document)] = failedDocument(document, error);
  }
  return accepted;
}

/** Makes the segments of a kind from the files of a shard. */
async function readSegments(
  { dump, shard }: ShardDump,
  kind: Kind,
  { scratch, formats, signal }: Pick<GatherOptions, "scratch" | "formats" | "signal">,
  take: Parameters<typeof makeSegments>[3],
): Promise<void> {
  const files = dump.tablesOf([kind])?.flatMap((table) => table.files) ?? [];
  for (const [at, { path }] of files.entries()) {
    const options = { folder: scratch, name: `shard-${shard.index}.${kind}.${at}`, formats, signal };
    await makeSegments(join(dump.folder, path), kind, options, take);
  }
}

/**
 * The rows of `document_info`, in the order of the list: as rows with only the columns that a run uses, and as segments with all
 * columns. Keeping all columns in memory would take most of the memory of a join.
 */
async function listedDocuments(shards: readonly ShardDump[], order: Order, options: GatherOptions) {
  const segments: { readonly place: number; readonly segment: SegmentFile }[] = [];
  for (const shard of shards)
    await readSegments(shard, "document_info", options, (ids, segment) => {
      segments.push({ place: order.document(ids), segment });
    });
  const rows = await rowsOfKind(
    shards,
    "document_info",
    ({ dataset_id = null, document_id = null, name = null, indexing_status = null }) => {
      return { dataset_id, document_id, name, indexing_status };
    },
  );
  return {
    rows: sortBy(rows, order.document),
    segments: segments.sort((one, other) => one.place - other.place).map(({ segment }) => segment),
  };
}

/** Returns where a dataset or document belongs in the merged list, as a number. */
interface Order {
  /** The number of documents. */
  readonly documents: number;
  readonly dataset: (row: Row) => number;
  readonly document: (row: Row) => number;
}

function orderOf({ list }: MergedList): Order {
  const datasets = new Map(list.datasets.map(({ dataset_id }, at) => [dataset_id, at]));
  let count = 0;
  const documents = new Map(
    list.datasets.map(({ dataset_id, documents }) => [dataset_id, new Map(documents.map((id) => [id, count++]))]),
  );
  return {
    documents: count,
    dataset: ({ dataset_id }) => datasets.get(String(dataset_id)) ?? datasets.size,
    document: ({ dataset_id, document_id }) => documents.get(String(dataset_id))?.get(String(document_id)) ?? count,
  };
}

/** Sorts by number; things with the same number keep their order. */
function sortBy<Thing>(things: readonly Thing[], placeOf: (thing: Thing) => number): readonly Thing[] {
  const placed = things.map((thing) => ({ thing, place: placeOf(thing) }));
  return placed.sort((one, other) => one.place - other.place).map(({ thing }) => thing);
}

/** Kinds whose rows belong to one dataset each. A dataset belongs to one shard. */
const ofDatasets: readonly Kind[] = ["datasets", "metadata_fields", "indexing_status"];

/** The rows of a kind from all shards, in order. */
async function rowsOfKind(
  shards: readonly ShardDump[],
  kind: Kind,
  keep: (row: Row) => Row = (row) => row,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { dump, shard } of shards) {
    const files = dump.tablesOf([kind])?.flatMap((table) => table.files) ?? [];
    for (const { path } of files)
      for await (const lines of splitLines(readTextPieces(join(dump.folder, path))))
        for (const line of lines) {
          const row = rowFromLine(line.toString("utf8"));
          const { dataset_id: id } = row;
          if (ofDatasets.includes(kind) && shardOf(String(id), "", shard.count) !== shard.index)
            throw refusal([
              dump.unsound(`${path}: has a row of dataset ${id}, which is not one of this shard`).message,
            ]);
          rows.push(keep(row));
        }
  }
  return rows;
}

/** The saved files of all shards, each with its path in the joined dump. */
function joinOriginals(shards: readonly ShardDump[], order: Order): readonly HeldOriginal[] {
  const found = shards.flatMap(({ dump }) =>
    (dump.manifest.originals ?? []).map(({ path, ...original }) => ({
      original,
      file: path === null ? "" : join(dump.folder, path),
    })),
  );
  const sorted = sortBy(found, ({ original }) => order.document(original));
  const placed = assignPaths(sorted.map(({ original }) => original));
  return placed.map((original, at) => ({ original, file: sorted[at]?.file ?? "" }));
}

/**
 * Separates the two readings of each batch by their times: a run reads every batch before the documents and again after them. A batch
 * that was read only once counts as read after.
 */
function splitReadings(rows: readonly Row[]): { readonly before: readonly Row[]; readonly after: readonly Row[] } {
  const batchOf = ({ dataset_id, batch }: Row) => JSON.stringify([dataset_id, batch]);
  const last = new Map(rows.map((row) => [batchOf(row), row.captured_at]));
  const isAfter = (row: Row) => last.get(batchOf(row)) === row.captured_at;
  return { before: rows.filter((row) => !isAfter(row)), after: rows.filter(isAfter) };
}
