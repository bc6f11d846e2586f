import { createHash } from "node:crypto";
import * as v from "valibot";
import type { DocumentRef } from "../../client/knowledge-api.js";
import type { DatasetJob } from "../../job/job.js";
import { documentKey } from "../../rows/document-row.js";
import { type Drift, driftSchema } from "../../rows/drift.js";
import { type Row, rowSchema } from "../../rows/row.js";
import { count, listOf, object, oneOf, text, truth } from "../../schema.js";

/** A dataset of the job whose documents are all known by id. */
export interface ListedDataset extends DatasetJob {
  readonly documents: readonly string[];
}

/** The result of listing the documents of a dataset. */
export interface Listing {
  readonly dataset_id: string;
  /** null where the service does not tell it. */
  readonly name: string | null;
  /**
   * listed: every document is known · unsettled: the list moved whenever it was read, and may lack some · failed: it could
   * not be read · skipped: the service does not give the chunks of this dataset.
   */
  readonly state: "listed" | "unsettled" | "failed" | "skipped";
  readonly documents: number;
}

/** The lists of the service. */
export interface Found {
  /** Rows of `document_info`, in the order of the job, then of the service. */
  readonly rows: readonly Row[];
  /** A listing for every dataset whose documents were asked for, and for every one that was skipped. */
  readonly listings: readonly Listing[];
  /** Whether all datasets of the service are known; undefined where the job names them. */
  readonly allDatasets: boolean | undefined;
  /** A sentence for every list that is not whole, or could not be read. */
  readonly failures: readonly string[];
  /** Warnings for the reader: datasets that were skipped, or are empty. */
  readonly notes: readonly string[];
  readonly drift: Drift;
  /** Requests that it takes to read all lists of documents once. */
  readonly pages: number;
}

/** The documents of a job by id, and what the service said of them. */
export interface Discovery {
  /** In the order of the job, then of the service. */
  readonly datasets: readonly ListedDataset[];
  /** undefined when the job names every document by id: then nothing was asked. */
  readonly found: Found | undefined;
}

const datasetSchema = v.pipe(
  object({
    id: text,
    documents: listOf(text),
    batches: listOf(text),
    status: listOf(text),
    keyword: v.optional(text),
  }),
  v.transform((dataset) => ({ ...dataset, keyword: dataset.keyword })), // JSON has no undefined
);

const listingSchema = object({
  dataset_id: text,
  name: v.nullable(text),
  state: oneOf("listed", "unsettled", "failed", "skipped"),
  documents: count,
});

/** A discovery as this version keeps it in the work folder of a run. */
export const discoverySchema = object({
  datasets: listOf(datasetSchema),
  found: v.pipe(
    object({
      rows: listOf(rowSchema),
      listings: listOf(listingSchema),
      allDatasets: v.optional(truth),
      failures: listOf(text),
      notes: listOf(text),
      drift: driftSchema,
      pages: count,
    }),
    v.transform((found) => ({ ...found, allDatasets: found.allDatasets })),
  ),
});

/** The names of documents by their ids, as far as the service told them: where it listed the documents. */
export type DocumentNames = ReadonlyMap<string, string>;

export function namesOf({ found }: Discovery): DocumentNames {
  const named = found?.rows.filter(({ name }) => typeof name === "string") ?? [];
  return new Map(named.map(({ document_id, name }) => [String(document_id), String(name)]));
}

/** A document to read, and the name of its parts in the work folder. */
export interface PlacedDocument {
  readonly ref: DocumentRef;
  readonly name: string;
}

/**
 * Every document, in its order. Parts are named after the place of a document in the job; where the service said what there
 * is, that place may be another when it is asked again, and they are named after the ids.
 */
export function documentsOf({ datasets, found }: Discovery): readonly PlacedDocument[] {
  const refs = datasets.flatMap(({ id, documents, status, keyword }) =>
    documents.map((documentId): DocumentRef => ({ datasetId: id, documentId, status, keyword })),
  );
  return refs.map((ref, index) => ({ ref, name: found ? nameFromIds(ref) : documentName(index) }));
}

/** The sources of documents that have an original file. */
const uploads = new Set(["upload_file", "local_file"]);

/** The documents that were uploaded, and those of which nobody knows: `details` are rows of `document_details`, if those were read. */
export function uploadsOf(discovery: Discovery, details: readonly Row[] = []): readonly PlacedDocument[] {
  const sources = new Map(
    [...(discovery.found?.rows ?? []), ...details].map((row) => [documentKey(row), row.data_source_type]),
  );
  return documentsOf(discovery).filter(({ ref: { datasetId, documentId } }) => {
    const source = sources.get(documentKey({ dataset_id: datasetId, document_id: documentId })) ?? null;
    return source === null || uploads.has(String(source));
  });
}

/** The name of the parts of a document that the job names: its place there. */
export function documentName(index: number): string {
  return String(index + 1).padStart(7, "0");
}

function nameFromIds({ datasetId, documentId }: DocumentRef): string {
  return createHash("sha256")
    .update(JSON.stringify([datasetId, documentId]))
    .digest("hex")
    .slice(0, 32);
}
