import { StopError } from "../errors.js";
import type { StatusReading } from "../indexing/capture-status.js";
import type { Job } from "../job/job.js";
import { originalWarnings } from "../originals/originals-text.js";
import { type HeldOriginal, listOriginals } from "../originals/save-originals.js";
import type { Counts } from "../rows/columns.js";
import { type Drift, sumOfDrift } from "../rows/drift.js";
import { nameAndId } from "../words.js";
import { type Discovery, namesOf } from "./discover/discovery.js";
import type { DocumentList } from "./discover/document-list.js";
import type { DetailsReading } from "./discover/read-details.js";
import type { FieldsReading } from "./discover/read-metadata-fields.js";
import { type DumpedDocument, sentenceOf } from "./documents/document-result.js";
import { statusWarnings } from "./status-warnings.js";
import { writtenFormats } from "./written-formats.js";

/** Everything that a run read; the rows of chunks and child chunks lie in the parts. */
export interface Reading {
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly discovery: Discovery;
  /** The documents of all shards; undefined unless the run is one of these. */
  readonly list: DocumentList | undefined;
  /** In the order of the job. */
  readonly documents: readonly DumpedDocument[];
  /** Further sentences for a reader on how they were read. */
  readonly notes: readonly string[];
  readonly fields: FieldsReading;
  /** Undefined without `details: true`. */
  readonly details: DetailsReading | undefined;
  /** Undefined without `originals: true`. */
  readonly originals: readonly HeldOriginal[] | undefined;
  readonly before: StatusReading;
  readonly after: StatusReading;
}

/** `complete` when everything that was asked for was read and held still. */
export function statusOf(reading: Reading): "complete" | "partial" {
  const whole = reading.documents.every(({ row }) => row.status === "complete");
  return whole && failuresOf(reading).length === 0 ? "complete" : "partial";
}

/** A sentence for everything that the job asked for and did not get, documents aside. */
function failuresOf({ discovery, fields, before, after }: Reading): readonly string[] {
  return [
    ...(discovery.found?.failures ?? []),
    ...fields.failures,
    ...new Set([...before.failures, ...after.failures]),
  ];
}

/** Warnings for the reader of the manifest: documents that are not whole, lists that failed, files that are not lossless. */
export function warningsOf(reading: Reading, job: Job): readonly string[] {
  const { datasets, found } = reading.discovery;
  const filtered = new Set(datasets.filter(({ status, keyword }) => status.length > 0 || keyword).map(({ id }) => id));
  const names = namesOf(reading.discovery);
  const unsafe = job.output.csvSafe && writtenFormats(job).includes("csv");
  return [
    ...reading.documents
      .map(({ row }) => row)
      .filter(({ status }) => status !== "complete")
      .map((row) => sentenceOf(row, names)),
    ...failuresOf(reading),
    ...(found?.notes ?? []),
    ...reading.notes,
    ...reading.fields.absent,
    ...(reading.details?.missing ?? []),
    ...originalWarnings(listOriginals(reading.originals).originals ?? [], names),
    ...statusWarnings({ ...reading, listed: found?.rows ?? [], names }, (datasetId) => filtered.has(datasetId)),
    ...(unsafe
      ? ["csv: not lossless: an apostrophe stands before cells that a spreadsheet would run as formulas"]
      : []),
  ];
}

/** The drift of all documents and lists, added up. */
export function driftOf({ discovery, documents, fields, details, before, after }: Reading): Drift {
  const lists = [discovery.found, fields, details].filter((list) => list !== undefined);
  return sumOfDrift([...lists, before, after, ...documents].map(({ drift }) => drift));
}

/** Rows of every kind that the dump of this reading has. */
export function countsOf({ discovery, documents, before, after, fields, details }: Reading): Counts {
  return {
    chunks: documents.reduce((sum, { row }) => sum + row.chunk_count, 0),
    child_chunks: documents.reduce((sum, { row }) => sum + row.child_chunk_count, 0),
    documents: documents.length,
    indexing_status: before.rows.length + after.rows.length,
    metadata_fields: fields.rows.length,
    ...(discovery.found ? { document_info: discovery.found.rows.length } : {}),
    ...(details ? { datasets: details.datasets.length, document_details: details.documents.length } : {}),
  };
}

/** A run of which no document could be read is no dump, and says why. Of a shard, the others may have read theirs. */
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
