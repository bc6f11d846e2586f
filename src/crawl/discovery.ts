import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { DocumentRef } from "../client/knowledge-api.js";
import type { DocumentChange } from "../database/tables.js";
import type { DiscoveredIds, RunFacts } from "../dump/manifest.js";
import { readRunFacts } from "../dump/read-manifest.js";
import { isRunId } from "../dump/run-id.js";
import type { DatasetJob } from "../job/job.js";
import { documentKey, type Row, rowSchema } from "../rows/row.js";
import { type Drift, driftSchema } from "../rows/row-from-record.js";
import { count, listOf, object, oneOf, text, truth } from "../schema.js";

/** A dataset of the job with the ids of all its documents. */
export interface ListedDataset extends DatasetJob {
  readonly documents: readonly string[];
}

/** The result of listing the documents of a dataset. */
export interface Listing {
  readonly dataset_id: string;
  /** The name of the dataset; null if the service does not report it. */
  readonly name: string | null;
  /**
   * listed: every document is known · unsettled: the list changed during every read, and may be incomplete · failed: it could not
   * be read · skipped: the service does not return the chunks of this dataset.
   */
  readonly state: "listed" | "unsettled" | "failed" | "skipped";
  readonly documents: number;
}

/** The results of listing datasets and documents. */
export interface Found {
  /** Rows of `document_info`, in the order of the job, then of the service. */
  readonly rows: readonly Row[];
  /** One entry for every dataset whose documents were listed, and for every skipped one. */
  readonly listings: readonly Listing[];
  /** Whether all datasets of the service are known; undefined if the job names its datasets. */
  readonly allDatasets: boolean | undefined;
  /** A sentence for every list that is incomplete or could not be read. */
  readonly failures: readonly string[];
  /** Warnings for the user: datasets that were skipped or are empty. */
  readonly notes: readonly string[];
  readonly drift: Drift;
  /** Requests needed to read all lists of documents once. */
  readonly pages: number;
}

/** The ids of a job's documents, and the lists that they came from. */
export interface Discovery {
  /** The datasets, in the order of the job, or of the service if the job reads all. */
  readonly datasets: readonly ListedDataset[];
  /** The answers of the service; undefined if the job names every document by id, so that no list was requested. */
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

/** A discovery as stored in the work folder of a run. */
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

/** Document names by id. Only documents that the service listed have one. */
export type DocumentNames = ReadonlyMap<string, string>;

export function namesOf({ found }: Discovery): DocumentNames {
  const named = found?.rows.filter(({ name }) => typeof name === "string") ?? [];
  return new Map(named.map(({ document_id, name }) => [String(document_id), String(name)]));
}

/** A document to read, and the name of its segments in the work folder. */
export interface DocumentToRead {
  readonly ref: DocumentRef;
  readonly name: string;
}

/**
 * Every document, in order, with the name for its segments. If the job names all documents, that is the index of the document.
 * If the service listed them, it is made from the ids, because the index can change when the list is read again.
 */
export function documentsOf({ datasets, found }: Discovery): readonly DocumentToRead[] {
  const refs = datasets.flatMap(({ id, documents, status, keyword }) =>
    documents.map((documentId): DocumentRef => ({ datasetId: id, documentId, status, keyword })),
  );
  return refs.map((ref, index) => ({ ref, name: found ? nameFromIds(ref) : documentName(index) }));
}

/** The sources of documents that have an original file. */
const uploads = new Set(["upload_file", "local_file"]);

/** The documents that were uploaded or have an unknown origin. `details` are rows of `document_details`, if available. */
export function uploadsOf(discovery: Discovery, details: readonly Row[] = []): readonly DocumentToRead[] {
  const sources = new Map(
    [...(discovery.found?.rows ?? []), ...details].map((row) => [documentKey(row), row.data_source_type]),
  );
  return documentsOf(discovery).filter(({ ref: { datasetId, documentId } }) => {
    const source = sources.get(documentKey({ dataset_id: datasetId, document_id: documentId })) ?? null;
    return source === null || uploads.has(String(source));
  });
}

/** The name of the segments of a document that the job names: its index. */
export function documentName(index: number): string {
  return String(index + 1).padStart(7, "0");
}

function nameFromIds({ datasetId, documentId }: DocumentRef): string {
  return createHash("sha256")
    .update(JSON.stringify([datasetId, documentId]))
    .digest("hex")
    .slice(0, 32);
}

/** A listing, and the run to compare its documents with: the newest earlier run that knew all of them. */
export type ComparedListing = Listing & { readonly since: string | null };

/** Documents that are new or gone since earlier runs of the job. */
export interface Discovered {
  readonly changes: readonly DocumentChange[];
  readonly datasets: readonly ComparedListing[];
  /** The newest earlier run that listed documents; null if there is none. */
  readonly since: string | null;
}

/** A dataset to compare: its current documents, and whether the list is complete. */
interface Subject {
  readonly id: string;
  readonly documents: readonly string[];
  readonly whole: boolean;
}

/** Used for a dataset that the newest run did not know, so that every document counts as new. */
const nothing = { state: "listed", documents: [] };

/**
 * Compares the documents found with earlier runs, which come newest first; undefined if the run did not list documents. An incomplete
 * list shows new documents, but no missing ones. If the newest run did not know a dataset, all of its documents count as new. If the
 * service no longer lists a dataset, all of its documents count as gone, but only if the run listed all datasets. Stops reading
 * earlier runs once every dataset is compared.
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

/** The datasets whose documents are known and can be compared, in the order of the job. */
function subjectsOf(datasets: readonly ListedDataset[], { listings }: Found): readonly Subject[] {
  const documentsOf = new Map(datasets.map(({ id, documents }) => [id, documents]));
  return listings
    .filter(({ state }) => state === "listed" || state === "unsettled")
    .map(({ dataset_id: id, state }) => ({ id, documents: documentsOf.get(id) ?? [], whole: state === "listed" }));
}

/** The datasets that a run knew and that are no longer listed; empty unless all datasets are known. */
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

/** The discovered documents as the manifest stores them. */
export function discoveredIds({ since, changes, datasets }: Discovered): DiscoveredIds {
  const ids = (kind: DocumentChange["change"]) =>
    changes.filter(({ change }) => change === kind).map(({ document_id }) => document_id);
  return { since, new: ids("new"), vanished: ids("vanished"), datasets };
}

/** The documents of the datasets of an earlier run. */
export interface EarlierListings {
  readonly runId: string;
  /** By dataset id: the state of its list of documents, and their ids in the order of that run. */
  readonly datasets: ReadonlyMap<string, { readonly state: string; readonly documents: readonly string[] }>;
}

/** The runs before `runId` that listed documents, newest first. Folders without a readable manifest are skipped. */
export async function* earlierListings(runs: string, runId: string): AsyncGenerator<EarlierListings> {
  const names = (await readdir(runs)).filter((name) => isRunId(name) && name < runId);
  for (const name of names.sort().reverse()) {
    const datasets = listingsIn(await readRunFacts(join(runs, name)));
    if (datasets) yield { runId: name, datasets };
  }
}

/** The listings in the manifest of an earlier run; undefined if it listed no documents. */
function listingsIn(manifest: RunFacts | undefined): EarlierListings["datasets"] | undefined {
  if (!manifest?.discovered) return undefined;
  const found = new Map(
    manifest.discovered.datasets.map(({ dataset_id, state }) => [dataset_id, { state, documents: [] as string[] }]),
  );
  for (const { dataset_id, document_id } of manifest.documents) found.get(dataset_id)?.documents.push(document_id);
  return found;
}
