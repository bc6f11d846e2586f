import { join } from "node:path";
import { discoveryFrom } from "../crawl/document-list.js";
import type { DuckDbOptions } from "../duckdb/open-duckdb.js";
import type { TextFormat } from "../dump/formats/format.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { Job, Shard } from "../job/job.js";
import { assignPaths, type HeldOriginal } from "../originals/save-originals.js";
import type { Kind } from "../rows/columns.js";
import { documentKey, type Row } from "../rows/row.js";
import { sumOfDrift } from "../rows/row-from-record.js";
import { type StatusFacts, warningsOfStatus } from "../run/read-everything.js";
import { incompleteTexts, type Reading } from "../run/reading.js";
import { joinDocuments, type ShardDocuments } from "./join-documents.js";
import { makeSegments, rowFromLine, type SegmentOptions } from "./make-segments.js";
import { documentsIn, type MergedList } from "./merge-lists.js";
import type { ProvedShard } from "./prove-shards.js";

interface GatherOptions {
  readonly job: Job;
  readonly merged: MergedList;
  /** The folder for files that are needed until the dump is made. */
  readonly scratch: string;
  readonly formats: readonly TextFormat[];
  readonly duckDb: DuckDbOptions;
  readonly signal: AbortSignal;
  /** The command that makes a shard. */
  readonly command: (shard: Shard) => string;
}

/** Gathers the rows of all shards as one run would have read them; those of chunks and child chunks stay in their files. */
export async function gatherShards(shards: readonly ProvedShard[], options: GatherOptions): Promise<Reading> {
  const { job, merged } = options;
  const order = orderOf(merged);
  const rowsOf = async (kind: Kind, place: (row: Row) => number) =>
    sortBy(await rowsOfKind(shards, kind, options), place);
  const has = (kind: Kind) => shards.some(({ tables }) => tables.has(kind));
  const rows = await rowsOf("document_info", order.document);
  const discovery = discoveryFrom({ ...merged.list, rows, drift: {}, pages: 0 }, job);
  const manifests = shards.map(({ dump }) => dump.manifest);
  const documents = joinDocuments(await withSegments(shards, options), merged, order.document, options.command);
  const { before, after } = splitReadings(await rowsOf("indexing_status", order.dataset));
  const times = (name: "started_at" | "finished_at") => manifests.map((manifest) => Date.parse(manifest[name]));
  return {
    startedAt: new Date(Math.min(...times("started_at"))),
    finishedAt: new Date(Math.max(...times("finished_at"))),
    discovery,
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

/** Warnings of the lists, of the shards in their order and of the indexing status of all, each once. */
function warningsOf(
  shards: readonly ProvedShard[],
  { differences, notes }: MergedList,
  facts: StatusFacts,
): readonly string[] {
  const ofShards = shards.flatMap(({ dump }) => dump.manifest.warnings);
  const reported = new Set(incompleteTexts(facts));
  const all = new Set([...differences, ...notes, ...ofShards, ...warningsOfStatus(facts)]);
  return [...all].filter((sentence) => !reported.has(sentence));
}

/** The documents of every shard, with their parts in every text format. */
async function withSegments(
  shards: readonly ProvedShard[],
  { scratch, formats, signal }: Pick<GatherOptions, "scratch" | "formats" | "signal">,
): Promise<readonly ShardDocuments[]> {
  const found: ShardDocuments[] = [];
  for (const { dump, shard, files } of shards) {
    const segments = dump.manifest.documents.map((): SegmentFile[] => []);
    for (const [at, file] of files.entries()) {
      const options: SegmentOptions = { folder: scratch, name: `shard-${shard.index}.${at}`, formats, signal };
      await makeSegments(file, options, (document, segment) => segments[document]?.push(segment));
    }
    found.push({ manifest: dump.manifest, segments });
  }
  return found;
}

/** The place of every dataset, and of every document, among all. */
interface Order {
  readonly dataset: (row: Row) => number;
  readonly document: (row: Row) => number;
}

function orderOf({ list }: MergedList): Order {
  const datasets = new Map(list.datasets.map(({ dataset_id }, at) => [dataset_id, at]));
  const documents = new Map(Array.from(documentsIn(list), ({ key }, at) => [key, at]));
  return {
    dataset: ({ dataset_id }) => datasets.get(String(dataset_id)) ?? datasets.size,
    document: (row) => documents.get(documentKey(row)) ?? documents.size,
  };
}

/** Things in the order of their places; those of one place stay as they stand. */
function sortBy<Thing>(things: readonly Thing[], placeOf: (thing: Thing) => number): readonly Thing[] {
  const placed = things.map((thing) => ({ thing, place: placeOf(thing) }));
  return placed.sort((one, other) => one.place - other.place).map(({ thing }) => thing);
}

/** The rows of a kind in all shards, in their order. */
async function rowsOfKind(
  shards: readonly ProvedShard[],
  kind: Kind,
  { duckDb }: Pick<GatherOptions, "duckDb">,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { dump, tables } of shards) {
    const table = tables.get(kind);
    if (!table) continue;
    for await (const lines of dump.lines(table, duckDb)) for (const line of lines) rows.push(rowFromLine(line));
  }
  return rows;
}

/** The files of all shards, each with the place that it has in the dump of a single run. */
function joinOriginals(shards: readonly ProvedShard[], order: Order): readonly HeldOriginal[] {
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

/** Readings of the indexing status before the documents were read, and after it. */
interface SplitReadings {
  readonly before: readonly Row[];
  readonly after: readonly Row[];
}

/**
 * Tells the two readings of each batch apart by their times: a run reads every batch before the documents and again after them, so
 * rows of the earlier time come first. A batch that could be read once counts as read after.
 */
function splitReadings(rows: readonly Row[]): SplitReadings {
  const times = new Map<string, { readonly first: unknown; isTwice: boolean }>();
  for (const row of rows) {
    const seen = times.get(batchKey(row));
    if (!seen) times.set(batchKey(row), { first: row.captured_at, isTwice: false });
    else if (seen.first !== row.captured_at) seen.isTwice = true;
  }
  const isBefore = (row: Row) => {
    const seen = times.get(batchKey(row));
    return seen?.isTwice === true && seen.first === row.captured_at;
  };
  return { before: rows.filter(isBefore), after: rows.filter((row) => !isBefore(row)) };
}

function batchKey({ dataset_id, batch }: Row): string {
  return JSON.stringify([dataset_id, batch]);
}
