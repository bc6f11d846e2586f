import { type Discovery, namesOf } from "../crawl/discovery.js";
import type { DocumentList } from "../crawl/document-list-file.js";
import type { ManifestJoined } from "../dump/manifest.js";
import { StopError } from "../errors.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { Job } from "../job/job.js";
import type { HeldOriginal } from "../originals/save-originals.js";
import type { Counts } from "../rows/columns.js";
import type { Row } from "../rows/row.js";
import { type Drift, sumOfDrift } from "../rows/row-from-record.js";
import { type DumpedDocument, sentenceOf } from "../segments/document-result.js";
import { nameAndId } from "../words.js";
import { writtenFormats } from "./finish-formats.js";

/** Everything that goes into a dump. The rows of chunks and child chunks are in the documents' segments. */
export interface Reading {
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly discovery: Discovery;
  /** The rows of `document_info` in segments; undefined if the discovery has whole rows. */
  readonly listed: readonly SegmentFile[] | undefined;
  /** The list of the documents of all shards; undefined if the run is not a shard. */
  readonly list: DocumentList | undefined;
  /** The documents, in the order of the job. */
  readonly documents: readonly DumpedDocument[];
  /** Rows that belong to no document, besides those of the discovery. */
  readonly rows: RunRows;
  /** The original files; undefined without `originals: true`. */
  readonly originals: readonly HeldOriginal[] | undefined;
  /** Whether everything else was read: lists of documents, metadata fields, indexing status. */
  readonly isWhole: boolean;
  /** Warnings for the manifest, besides those about incomplete documents. */
  readonly warnings: readonly string[];
  /** How often fields had unexpected types, not counting those of the documents. */
  readonly drift: Drift;
  /** The shard runs that the rows come from; undefined if they come from a service. */
  readonly joined: ManifestJoined | undefined;
}

/** Rows that belong to no document, by kind. */
interface RunRows {
  readonly indexing_status: readonly Row[];
  readonly metadata_fields: readonly Row[];
  /** The settings of datasets. Like `document_details`, undefined with `details: false`. */
  readonly datasets: readonly Row[] | undefined;
  readonly document_details: readonly Row[] | undefined;
}

/** `complete` if every document and everything else was read completely. */
export function statusOf({ documents, isWhole }: Reading): "complete" | "partial" {
  return isWhole && documents.every(({ row }) => row.status === "complete") ? "complete" : "partial";
}

/** Warnings for the manifest: incomplete documents, failed lists and files that are not lossless. */
export function warningsOf(reading: Reading, job: Job): readonly string[] {
  const unsafe = job.output.csvSafe && writtenFormats(job).includes("csv");
  return [
    ...incompleteTexts(reading),
    ...reading.warnings,
    ...(unsafe ? ["csv: not lossless: cells that a spreadsheet would run as formulas start with an apostrophe"] : []),
  ];
}

export function incompleteTexts({ documents, discovery }: Pick<Reading, "documents" | "discovery">): readonly string[] {
  const names = namesOf(discovery);
  const incomplete = documents.filter(({ row }) => row.status !== "complete");
  return incomplete.map(({ row }) => sentenceOf(row, names));
}

/** The drift of all documents and lists, summed up. */
export function driftOf({ documents, drift }: Reading): Drift {
  return sumOfDrift([drift, ...documents.map((document) => document.drift)]);
}

/** The number of rows of each kind in the dump. */
export function countsOf({ discovery, documents, rows }: Reading): Counts {
  return {
    chunks: documents.reduce((sum, { row }) => sum + row.chunk_count, 0),
    child_chunks: documents.reduce((sum, { row }) => sum + row.child_chunk_count, 0),
    documents: documents.length,
    indexing_status: rows.indexing_status.length,
    metadata_fields: rows.metadata_fields.length,
    ...(discovery.found ? { document_info: discovery.found.rows.length } : {}),
    ...(rows.datasets ? { datasets: rows.datasets.length } : {}),
    ...(rows.document_details ? { document_details: rows.document_details.length } : {}),
  };
}

/**
 * Throws StopError if no document could be read, because that is not a dump. Does not throw for a shard: other shards may have read
 * theirs.
 */
export function requireDocument({ documents, discovery, list }: Reading): void {
  const [first] = documents;
  if (!first || list || documents.some(({ row }) => row.status !== "failed")) return;
  const name = nameAndId(namesOf(discovery).get(first.row.document_id), first.row.document_id);
  const which =
    documents.length === 1
      ? `document ${name} could not be read`
      : `none of the ${documents.length} documents could be read; the first, ${name}`;
  throw new StopError(`${which}: ${first.row.error}`);
}
