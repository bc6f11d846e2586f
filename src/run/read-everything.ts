import type { Client } from "../client/open-client.js";
import { countRetry } from "../client/request-counts.js";
import { discoverDocuments } from "../crawl/discover-documents.js";
import {
  type Discovery,
  type DocumentNames,
  discoverySchema,
  documentsOf,
  type ListedDataset,
  namesOf,
  uploadsOf,
} from "../crawl/discovery.js";
import { type DocumentList, documentListFrom } from "../crawl/document-list-file.js";
import {
  type DetailsAsked,
  type DetailsReading,
  detailsReadingOf,
  type FieldsReading,
  fieldsReadingSchema,
  readDetails,
  readMetadataFields,
} from "../crawl/read-details.js";
import { datasetsOfShard, discoveryOfShard, isRowOf } from "../crawl/shards.js";
import { isTooLongForFolder } from "../dump/formats/format.js";
import { StopError } from "../errors.js";
import type { Shard } from "../job/job.js";
import { readingDocuments } from "../job/run-progress.js";
import { type DownloadOptions, openDownloads } from "../originals/download.js";
import { wantedFiles } from "../originals/file-routes.js";
import { type HeldOriginal, listOriginals, originalWarnings, saveOriginals } from "../originals/save-originals.js";
import type { Row } from "../rows/row.js";
import { sumOfDrift } from "../rows/row-from-record.js";
import { plainText } from "../safe-text.js";
import type { DocumentResult, DumpedDocument } from "../segments/document-result.js";
import { prefetchOf, type ReadOptions, readDocuments } from "../segments/read-documents.js";
import { readOnce } from "../segments/resume.js";
import { captureStatus, type StatusReading, statusReadingSchema } from "../status/capture-status.js";
import { nameAndId } from "../words.js";
import type { Reading } from "./reading.js";

export interface ReadAllOptions extends ReadOptions {
  /** A list of documents read earlier; undefined to ask the service. */
  readonly given: Discovery | undefined;
  readonly baseUrl: string;
  readonly connecting: Omit<DownloadOptions, "progress">;
  /** Lets workers read documents; undefined without workers. */
  readonly distribute?: ((discovery: Discovery) => Promise<void>) | undefined;
}

/**
 * Reads everything in the job, in this order: lists, status, documents and metadata fields, the lists of documents again and the
 * documents that changed, details, originals, and the status again.
 */
export async function readEverything(api: Client, options: ReadAllOptions): Promise<Reading> {
  const { job, progress, now, workspace } = options;
  const { work } = workspace;
  progress.step = "listing documents";
  const whole = await readDiscovery(api, options);
  if (job.output.partition === "dataset") requireFolderNames(whole);
  const { discovery, datasets, list } = shareOf(whole, job.shard);
  progress.step = "reading status";
  const before = await readOnce<StatusReading>(work, "status", {
    schema: statusReadingSchema,
    read: () => captureStatus(api, datasets, now),
    isWhole: ({ failures }) => failures.length === 0,
  });
  progress.step = readingDocuments;
  const reading = readOnce<FieldsReading>(work, "fields", {
    schema: fieldsReadingSchema,
    read: () => readMetadataFields(api, datasets),
    isWhole: ({ failures }) => failures.length === 0,
  });
  reading.catch(() => {}); // awaited below, unless the documents end the run first
  if (options.distribute) {
    await reading; // while workers read, this process sends no requests
    await options.distribute(discovery);
  }
  const { documents, notes } = await readDocuments(api, discovery, options);
  const fields = await reading;
  const isDetailed = ({ edited }: DumpedDocument) => job.details === true || edited;
  const asked = { datasets, documents: documents.filter(isDetailed).map(({ row }) => row) };
  const details = job.details === false ? undefined : await readDetailsOnce(api, asked, options);
  const originals = job.originals ? await readOriginals(api, { discovery, details, documents }, options) : undefined;
  progress.step = "reading status";
  const after = await captureStatus(api, datasets, now);
  const [listed, joined] = [undefined, undefined];
  const answers = { discovery, documents, notes, fields, details, originals, before, after };
  const { startedAt } = workspace;
  return {
    startedAt,
    finishedAt: now(),
    discovery,
    listed,
    list,
    documents,
    originals,
    joined,
    ...sumUpAnswers(answers),
  };
}

/** The part of a job that a run reads. */
interface Share {
  readonly discovery: Discovery;
  /** The datasets whose rows without a document this run reads. */
  readonly datasets: readonly ListedDataset[];
  /** The list of the documents of all shards; undefined if the run is not a shard. */
  readonly list: DocumentList | undefined;
}

function shareOf(whole: Discovery, shard: Shard | undefined): Share {
  if (!shard) return { discovery: whole, datasets: whole.datasets, list: undefined };
  const datasets = datasetsOfShard(whole.datasets, shard);
  return { discovery: discoveryOfShard(whole, shard), datasets, list: documentListFrom(whole) };
}

/**
 * Reads the settings of datasets and the details of documents, once per run. Call it after changed documents were read again,
 * because that decides which documents look edited.
 */
async function readDetailsOnce(
  api: Client,
  asked: DetailsAsked,
  { job, workspace, progress, log }: ReadOptions,
): Promise<DetailsReading> {
  progress.step = "reading details";
  return readOnce<DetailsReading>(workspace.work, "details", {
    schema: detailsReadingOf(asked),
    read: async () => {
      const details = await readDetails(api, asked, job.output.keepSignatures);
      for (const sentence of details.missing) log("warn", sentence);
      return details;
    },
    isWhole: ({ missing }) => missing.length === 0,
  });
}

/** Downloads the original files of documents with an uploaded or unknown source, and the files attached to chunks. */
async function readOriginals(
  api: Client,
  { discovery, details, documents }: Pick<Answers, "discovery" | "details" | "documents">,
  { job, workspace, progress, now, log, baseUrl, connecting }: ReadAllOptions,
): Promise<readonly HeldOriginal[]> {
  const { concurrency, retries, maxOriginal } = job.service;
  progress.step = "saving originals";
  const segments = documents.map(({ files }) => files);
  const wanted = await wantedFiles(documentsOf(discovery), uploadsOf(discovery, details?.documents), segments);
  await using downloads = openDownloads(api, { ...connecting, progress: progress.requests });
  const { download } = downloads;
  const held = await saveOriginals(wanted, {
    ...{ api, download, baseUrl, workspace, retries, now, job: job.name, longest: maxOriginal, atOnce: concurrency },
    details: details?.documents,
    onRetry: (error, wait) => {
      countRetry(error, progress.requests);
      log("warn", `${error.message}; next try in ${(wait / 1000).toFixed(1)} s`);
    },
    onSaved: (done) => {
      progress.step = `saving originals (${done} of ${wanted.length})`;
    },
  });
  const { originals = [] } = listOriginals(held);
  for (const sentence of originalWarnings(originals, namesOf(discovery))) log("warn", sentence);
  return held;
}

/**
 * Finds the documents of the job, in the given list or from the service. The service's answer is stored, so that a resumed run
 * reads the same documents.
 */
async function readDiscovery(
  api: Client,
  { job, workspace, log, given }: Pick<ReadAllOptions, "job" | "workspace" | "log" | "given">,
): Promise<Discovery> {
  const warn = (discovery: Discovery) => {
    const { failures = [], notes = [] } = discovery.found ?? {};
    for (const sentence of [...failures, ...notes]) log("warn", sentence);
    return discovery;
  };
  if (given) return warn(given);
  return readOnce<Discovery>(workspace.work, "discovery", {
    schema: discoverySchema,
    read: async () => {
      const { shard } = job;
      return warn(await discoverDocuments(api, job, prefetchOf(job), shard ? { keeps: isRowOf(shard) } : {}));
    },
    isWhole: ({ found }) => found !== undefined,
  });
}

/** All answers of a service to a job. */
interface Answers {
  readonly discovery: Discovery;
  readonly documents: readonly DumpedDocument[];
  /** Sentences about the reading of the documents, for the user. */
  readonly notes: readonly string[];
  readonly fields: FieldsReading;
  /** The settings of datasets and details of documents; undefined with `details: false`. */
  readonly details: DetailsReading | undefined;
  /** The original files; undefined without `originals: true`. */
  readonly originals: readonly HeldOriginal[] | undefined;
  /** The indexing status before the documents were read; `after`: the status after that. */
  readonly before: StatusReading;
  readonly after: StatusReading;
}

/** Sums up the answers: rows, warnings and drift. */
function sumUpAnswers(answers: Answers): Pick<Reading, "rows" | "isWhole" | "warnings" | "drift"> {
  const { discovery, fields, details, before, after } = answers;
  const { found } = discovery;
  const failures = [
    ...(found?.failures ?? []),
    ...fields.failures,
    ...new Set([...before.failures, ...after.failures]),
  ];
  const lists = [found, fields, details].filter((list) => list !== undefined);
  return {
    rows: {
      indexing_status: [...before.rows, ...after.rows],
      metadata_fields: fields.rows,
      datasets: details?.datasets,
      document_details: details?.documents,
    },
    isWhole: failures.length === 0,
    warnings: [
      ...failures,
      ...(found?.notes ?? []),
      ...answers.notes,
      ...fields.absent,
      ...(details?.missing ?? []),
      ...originalWarnings(listOriginals(answers.originals).originals ?? [], namesOf(discovery)),
      ...warningsOfStatus(answers),
    ],
    drift: sumOfDrift([...lists, before, after].map(({ drift }) => drift)),
  };
}

/** Warnings where the indexing status contradicts the documents. */
export function warningsOfStatus({ discovery, documents, before, after }: StatusFacts): readonly string[] {
  const { datasets, found } = discovery;
  const filtered = new Set(datasets.filter(({ status, keyword }) => status.length > 0 || keyword).map(({ id }) => id));
  const facts = { before, after, documents, listed: found?.rows ?? [], names: namesOf(discovery) };
  return statusWarnings(facts, (datasetId) => filtered.has(datasetId));
}

/** The documents of a run, and their indexing status before and after it. */
export interface StatusFacts extends Pick<Answers, "discovery" | "documents"> {
  readonly before: Pick<StatusReading, "rows">;
  readonly after: Pick<StatusReading, "rows">;
}

/** The readings of the indexing status that `statusWarnings` compares. */
interface StatusReadings {
  readonly before: { readonly rows: readonly Row[] };
  readonly after: { readonly rows: readonly Row[] };
  readonly documents: readonly DocumentResult[];
  /** Rows of the list of documents, which was read before everything else; absent if the job names its documents. */
  readonly listed?: readonly Row[];
  readonly names?: DocumentNames;
}

const resting = new Set(["completed", "error"]);

/**
 * Warns where the indexing status contradicts a dump: documents that were being indexed or changed status during the read, and
 * completed documents without a chunk. `filtered`: whether the job reads only some chunks of a dataset.
 */
export function statusWarnings(
  { before, after, documents, listed = [], names = new Map() }: StatusReadings,
  filtered: (datasetId: string) => boolean,
): readonly string[] {
  const known = listed.filter(({ indexing_status: status }) => status !== null);
  const [first, last] = [statusOf([...known, ...before.rows]), statusOf(after.rows)];
  return documents.flatMap(({ row }) => {
    const id = row.document_id;
    const document = `document ${nameAndId(names.get(id), id)}`;
    const [was, is] = [first.get(id), last.get(id)];
    if (was !== undefined && is !== undefined && was !== is) {
      return [`${document}: its indexing status went from ${was} to ${is} during the run`];
    }
    const status = is ?? was;
    if (status === undefined) return [];
    if (status === "paused") return [`${document}: its indexing is paused, so its chunks are not final`];
    if (!resting.has(status)) return [`${document}: it is being indexed (${status}), so its chunks are not final`];
    const empty = status === "completed" && row.status === "complete" && row.total === 0;
    return empty && !filtered(row.dataset_id) ? [`${document}: its indexing is completed, and it has no chunks`] : [];
  });
}

/** The status of every document. If it has several entries, the last one counts. */
function statusOf(rows: readonly Row[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [String(row.document_id), String(row.indexing_status ?? "unknown")]));
}

/** Throws StopError, before anything is read, if `output.partition` cannot name a folder after a dataset. */
function requireFolderNames({ datasets }: Pick<Discovery, "datasets">): void {
  const tooLong = datasets.filter(({ id, documents }) => documents.length > 0 && isTooLongForFolder(id));
  const [first] = tooLong;
  if (!first) return;
  const ids = tooLong.length === 1 ? "a dataset has an id" : `${tooLong.length} datasets have ids`;
  throw new StopError(
    `output.partition names a folder after each dataset, and ${ids} too long for that: ${plainText(first.id, "", 100)}. ` +
      "Leave output.partition out, or name the datasets to read",
  );
}
