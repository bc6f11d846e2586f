import { countRetry } from "../client/counted.js";
import type { Download } from "../client/download/open-downloads.js";
import type { Client } from "../client/open-client.js";
import { captureStatus, type StatusReading, statusReadingSchema } from "../indexing/capture-status.js";
import type { Shard } from "../job/job.js";
import { originalWarnings } from "../originals/originals-text.js";
import { type HeldOriginal, listOriginals, saveOriginals } from "../originals/save-originals.js";
import { wantedFiles } from "../originals/wanted-files.js";
import { discoverDocuments } from "./discover/discover-documents.js";
import {
  type Discovery,
  discoverySchema,
  documentsOf,
  type ListedDataset,
  namesOf,
  uploadsOf,
} from "./discover/discovery.js";
import { type DocumentList, documentListFrom } from "./discover/document-list.js";
import { type DetailsAsked, type DetailsReading, detailsReadingSchema, readDetails } from "./discover/read-details.js";
import { type FieldsReading, fieldsReadingSchema, readMetadataFields } from "./discover/read-metadata-fields.js";
import { datasetsOf, discoveryOf, isRowOf } from "./discover/shard-of.js";
import { lookAheadOf, type ReadOptions, readDocuments } from "./documents/read-documents.js";
import type { Reading } from "./reading.js";
import { requireFolderNames } from "./require-folder-names.js";
import { readingDocuments } from "./setting/run-tally.js";
import { type Answers, sumUpAnswers } from "./sum-up-answers.js";
import { readOnce } from "./work/read-once.js";

/** The originals come from elsewhere. */
export interface ReadAllOptions extends ReadOptions {
  /** The documents that somebody listed before; undefined: the service is asked. */
  readonly given: Discovery | undefined;
  readonly baseUrl: string;
  readonly download: Download;
  /** Lets workers read documents, as far as they can; undefined: there are none. */
  readonly handOut?: ((discovery: Discovery) => Promise<void>) | undefined;
}

/**
 * Asks for everything that the job means, in this order: lists, status, documents and metadata fields, the lists of documents
 * again with those documents that changed, details, originals, status again.
 */
export async function readEverything(api: Client, options: ReadAllOptions): Promise<Reading> {
  const { job, tally, now, workspace } = options;
  const { work } = workspace;
  tally.step = "listing documents";
  const whole = await readDiscovery(api, options);
  if (job.output.partition === "dataset") requireFolderNames(whole);
  const { discovery, datasets, list } = shareOf(whole, job.shard);
  tally.step = "reading status";
  const before = await readOnce<StatusReading>(work, "status", {
    schema: statusReadingSchema,
    read: () => captureStatus(api, datasets, now),
    isWhole: ({ failures }) => failures.length === 0,
  });
  tally.step = readingDocuments;
  const reading = readOnce<FieldsReading>(work, "fields", {
    schema: fieldsReadingSchema,
    read: () => readMetadataFields(api, datasets),
    isWhole: ({ failures }) => failures.length === 0,
  });
  reading.catch(() => {}); // seen below, unless the documents end the run before
  await options.handOut?.(discovery);
  const { documents, notes } = await readDocuments(api, discovery, options);
  const fields = await reading;
  const details = job.details
    ? await readDetailsOnce(api, { datasets, documentsOf: discovery.datasets }, options)
    : undefined;
  const originals = job.originals ? await readOriginals(api, { discovery, details, documents }, options) : undefined;
  tally.step = "reading status";
  const after = await captureStatus(api, datasets, now);
  const joined = undefined;
  const answers = { discovery, documents, notes, fields, details, originals, before, after };
  const { startedAt } = workspace;
  return { startedAt, finishedAt: now(), discovery, list, documents, originals, joined, ...sumUpAnswers(answers) };
}

/** The part of a job that a run reads. */
interface Share {
  readonly discovery: Discovery;
  /** Datasets of which the run reads the rows that belong to no document. */
  readonly datasets: readonly ListedDataset[];
  /** The documents of all shards; undefined unless the run is one of these. */
  readonly list: DocumentList | undefined;
}

function shareOf(whole: Discovery, shard: Shard | undefined): Share {
  if (!shard) return { discovery: whole, datasets: whole.datasets, list: undefined };
  const datasets = datasetsOf(whole.datasets, shard);
  return { discovery: discoveryOf(whole, shard), datasets, list: documentListFrom(whole) };
}

/** Asked last: by then it is known that the service is the right one, and a document that moved is read. */
async function readDetailsOnce(
  api: Client,
  asked: DetailsAsked,
  { job, workspace, tally, log }: ReadOptions,
): Promise<DetailsReading> {
  tally.step = "reading details";
  return readOnce<DetailsReading>(workspace.work, "details", {
    schema: detailsReadingSchema,
    read: async () => {
      const details = await readDetails(api, asked, job.output.keepSignatures);
      for (const sentence of details.missing) log("warn", sentence);
      return details;
    },
    isWhole: ({ missing }) => missing.length === 0,
  });
}

/** The files of documents that were uploaded, as far as it is known where they came from, and those attached to their chunks. */
async function readOriginals(
  api: Client,
  { discovery, details, documents }: Pick<Answers, "discovery" | "details" | "documents">,
  { job, workspace, tally, now, log, baseUrl, download }: ReadAllOptions,
): Promise<readonly HeldOriginal[]> {
  const { concurrency, retries, maxOriginal } = job.service;
  tally.step = "saving originals";
  const parts = documents.map(({ files }) => files);
  const wanted = await wantedFiles(documentsOf(discovery), uploadsOf(discovery, details?.documents), parts);
  const held = await saveOriginals(wanted, {
    ...{ api, download, baseUrl, workspace, retries, now, job: job.name, longest: maxOriginal, atOnce: concurrency },
    details: details?.documents,
    onRetry: (error, wait) => {
      countRetry(error, tally.requests);
      log("warn", `${error.message}; next try in ${(wait / 1000).toFixed(1)} s`);
    },
    onSaved: (done) => {
      tally.step = `saving originals (${done} of ${wanted.length})`;
    },
  });
  const { originals = [] } = listOriginals(held);
  for (const sentence of originalWarnings(originals, namesOf(discovery))) log("warn", sentence);
  return held;
}

/**
 * The documents of the job by id: those of the given list, or else what the service says. Its answer is kept: a run that is
 * continued reads the same documents.
 */
async function readDiscovery(
  api: Client,
  { job, workspace, log, given }: Pick<ReadAllOptions, "job" | "workspace" | "log" | "given">,
): Promise<Discovery> {
  const tell = (discovery: Discovery) => {
    const { failures = [], notes = [] } = discovery.found ?? {};
    for (const sentence of [...failures, ...notes]) log("warn", sentence);
    return discovery;
  };
  if (given) return tell(given);
  return readOnce<Discovery>(workspace.work, "discovery", {
    schema: discoverySchema,
    read: async () => {
      const { shard } = job;
      return tell(await discoverDocuments(api, job, lookAheadOf(job), shard ? { keeps: isRowOf(shard) } : {}));
    },
    isWhole: ({ found }) => found !== undefined,
  });
}
