import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pageSize as fullPage } from "../client/knowledge-api.js";
import { forecastLists, noEvidence, sampleOf } from "../crawl/auto-child-lists.js";
import { keptPages } from "../crawl/child-lists.js";
import { type FileFormat, fileFormats, formatOf } from "../dump/formats/formats.js";
import type { Job } from "../job/job.js";
import { attachmentRequests } from "../originals/file-routes.js";
import { foldersOf } from "../store/folder/job-folders.js";
import type { PlanDisk } from "./plan-result.js";
import type { DocumentSample, DocumentSurvey } from "./survey.js";

export type ChildMode = Job["childChunks"];

export interface DocumentForecast {
  readonly children: number;
  /** Requests for pages of chunks and child lists, for each value of child_chunks. */
  readonly pages: number;
  readonly lists: Readonly<Record<ChildMode, number>>;
  /** Requests for files attached to its chunks. */
  readonly attachments: number;
  /** Bytes of the document's rows as JSONL. */
  readonly bytes: number;
}

/** The facts that the forecasts of all documents share. */
export interface ForecastBasis {
  readonly job: Pick<Job, "childChunks" | "consistency" | "originals">;
  /** Rows per page, for lists of chunks and child lists. */
  readonly sizes: { readonly chunks: number; readonly children: number };
  /** Finds a similar sampled document, for a document that was not sampled. */
  readonly like: (survey: DocumentSurvey) => DocumentSample | undefined;
}

/** Returns the largest sampled document of the same form; if there is none, of any form. */
export function likeIn(surveys: readonly DocumentSurvey[]): ForecastBasis["like"] {
  const sampled = surveys.filter(({ sample }) => sample).sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
  return ({ docForm }) => (sampled.find((survey) => survey.docForm === docForm) ?? sampled[0])?.sample;
}

/** Estimated bytes of a row of `documents`. */
const perDocument = 400;

/** Forecasts an undisturbed run for a document: nothing fails, changes or is resumed. */
export function forecastDocument(survey: DocumentSurvey, { job, sizes, like }: ForecastBasis): DocumentForecast {
  const { total, error } = survey;
  const none = { all: 0, auto: 0, none: 0 };
  if (total === null) return { children: 0, pages: 1, lists: none, attachments: 0, bytes: perDocument };
  const sample = survey.sample ?? like(survey);
  const pages = chunkRequests(survey.ref, sample?.anchor, total, { size: sizes.chunks, consistency: job.consistency });
  const share = total / Math.max(1, sample?.children.length ?? 0);
  const children = sample ? Math.round(sum(sample.children) * share) : 0;
  const all = error === null ? Math.round(sum((sample?.children ?? []).map(listRequests)) * share) : 1;
  const attached = sample && sample.chunks > 0 ? Math.round((sample.attachments * total) / sample.chunks) : 0;
  const bytes =
    perDocument +
    total * (sample?.chunkBytes ?? 0) +
    (job.childChunks === "none" ? 0 : children * (sample?.childBytes ?? 0));
  return {
    children: error === null ? children : 0,
    pages,
    lists: total === 0 ? none : { all, auto: autoLists(survey, sample, all), none: 0 },
    attachments: job.originals ? attached * attachmentRequests : 0,
    bytes,
  };

  /**
   * The requests for a child list with this many rows. A list of more than one page is read twice, unless the chunks embed the
   * same children.
   */
  function listRequests(rows: number): number {
    const once = pagesOf(rows, sizes.children);
    const isProved = job.consistency === "counts" || sample?.embedding === "agrees";
    return !isProved && (once > 1 || rows === fullPage) ? 2 * once : once;
  }

  /** Forecasts what `child_chunks: auto` reads, by its own rules. A run draws its own sample. */
  function autoLists(survey: DocumentSurvey, sample: DocumentSample | undefined, all: number): number {
    if (error !== null || !sample || total === null) return all;
    if (sample.embedding === "differs" || sample.embedding === "absent") return all;
    const own = survey.sample?.evidence;
    const { docForm, embedding } = sample.evidence;
    const evidence = own ?? { ...noEvidence, docForm, chunks: 1, embedding: Math.min(1, embedding) };
    const { asked } = forecastLists(evidence, total);
    if (asked >= total) return all;
    const further = sampleOf(evidence).map(({ rows }) => Math.min(pagesOf(rows, sizes.children), keptPages) - 1);
    return asked + sum(further);
  }
}

/**
 * The number of documents whose details a run reads. With `auto`, counts the sampled documents that look edited, and the same
 * share of the others. Each edit that the sample misses costs one more request.
 */
export function countDetailed(surveys: readonly DocumentSurvey[], details: Job["details"]): number {
  if (details !== "auto") return details ? surveys.length : 0;
  const readable = surveys.filter(({ total, error }) => total !== null && total > 0 && error === null);
  const sampled = readable.flatMap(({ sample }) => sample ?? []);
  const edited = sampled.filter((sample) => sample.edited).length;
  return Math.round((readable.length * edited) / Math.max(1, sampled.length));
}

/** The requests to read this many chunks and prove them complete, with pages of this size. */
function chunkRequests(
  { status, keyword }: DocumentSurvey["ref"],
  anchor: DocumentSample["anchor"] | undefined,
  total: number,
  { size, consistency }: { readonly size: number; readonly consistency: Job["consistency"] },
): number {
  const once = pagesOf(total, size);
  const isFiltered = status.length > 0 || keyword !== undefined;
  if (consistency === "counts" || (once === 1 && total !== fullPage)) return once;
  if (consistency === "sweeps" || isFiltered || once === 1 || anchor === "none") return 2 * once;
  const rows = (once > 2 || size < fullPage ? 2 : 1) + (total % size === 0 ? 1 : 0); // see readAnchored
  return rows + (anchor === "young" ? 2 * once - 1 : once);
}

/** Pages of a list. An empty list has one too. */
export function pagesOf(rows: number, size: number): number {
  return Math.max(1, Math.ceil(rows / size));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((before, number) => before + number, 0);
}

/** Maximum database bytes per byte of JSONL, measured with texts in several languages. */
const databaseShare = 0.6;
/**
 * Maximum compressed bytes per byte of text, for gzip and zstd. Measured: 0.14 to 0.24 with English and code, 0.39 with Chinese in
 * chunks of 800 characters. A margin is added, because CSV does not repeat names.
 */
const compressedShare = 0.5;
const smallestDatabase = 3_000_000;

/** The disk space that a run needs for this much JSONL, and the free space. Writes nothing. */
export async function diskSpace(job: Job, jsonl: number): Promise<PlanDisk> {
  const { database } = foldersOf(job);
  const before = await stat(database).then(
    ({ size }) => size,
    () => 0,
  );
  const { folder, free } = await freeSpace(job.output.dir);
  const needs = diskNeeds(job.output, jsonl, before);
  return { folder, ...needs, free_bytes: free, enough: free === null ? null : free >= needs.needed_bytes };
}

/**
 * The disk space that a run needs, in bytes: what remains after it, and the peak during it. `before`: the current size of the
 * database.
 */
export function diskNeeds(
  { formats, compress }: Pick<Job["output"], "formats" | "compress">,
  jsonl: number,
  before: number,
): Pick<PlanDisk, "needed_bytes" | "run_folder_bytes" | "database_bytes"> {
  const bytesOf = (format: FileFormat) => (formats.includes(format) ? jsonl * (formatOf(format).size ?? 1) : 0);
  const hasDatabase = formats.includes("duckdb");
  const database = hasDatabase ? Math.max(before, smallestDatabase + jsonl * databaseShare) : 0;
  const shareOf = (format: FileFormat) => (compress !== "none" && formatOf(format).isText ? compressedShare : 1);
  const runFolder = fileFormats.reduce((sum, format) => sum + bytesOf(format) * shareOf(format), 0);
  const segments = jsonl + bytesOf("csv");
  const scratch = (formats.includes("jsonl") ? 0 : jsonl) + (hasDatabase ? database + before : 0);
  return {
    needed_bytes: Math.ceil(segments + runFolder + scratch),
    run_folder_bytes: Math.ceil(runFolder),
    database_bytes: Math.ceil(database),
  };
}

/** The free bytes on the disk of the nearest existing folder. */
async function freeSpace(path: string): Promise<{ folder: string; free: number | null }> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const facts = await statfs(folder).catch(() => undefined);
    if (facts) return { folder, free: facts.bavail * facts.bsize };
    if (dirname(folder) === folder) return { folder, free: null };
  }
}
