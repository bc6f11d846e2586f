import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { documentsOf } from "../crawl/discovery.js";
import { writeGivenList } from "../crawl/document-list.js";
import { Prefetch } from "../crawl/prefetch.js";
import { type FileFormat, fileFormats, formatOf } from "../dump/formats/formats.js";
import { SkipError, StopError } from "../errors.js";
import type { Job } from "../job/job.js";
import { openService, type RunOptions, withDefaults } from "../job/open-service.js";
import { foldersOf } from "../store/folder/job-folders.js";
import { askOpening, findEarlierRun } from "./ask-opening.js";
import { countChildren, surveyDocuments } from "./count-children.js";
import { type DocumentSurvey, pagesOf, RowSizes } from "./document-survey.js";
import {
  AnswerLog,
  askLongest,
  type Inquiry,
  isSameOrder,
  lookForTies,
  newInquiry,
  readChunks,
  seeHasMore,
} from "./inquiry.js";
import type { JobPlan, PlanDisk } from "./job-plan.js";
import { makePlan } from "./make-plan.js";

export interface PlanOptions extends Pick<RunOptions, "env" | "signal" | "progress" | "log" | "now"> {
  /**
   * Requests that may be spent on exact numbers, beyond one for each document and its first child list; 1,000 by default,
   * infinite for as many as it takes.
   */
  readonly budget?: number | undefined;
  /** The file to write the list of documents to, for `run --documents-from`; undefined: none is written. */
  readonly documentsOut?: string | undefined;
}

/** The default budget: some seconds. */
const usualBudget = 1_000;

/** Requests under way or waiting, per request in flight. */
const aheadPerSlot = 4;

/**
 * Asks what a job would read, and forecasts requests, bytes and disk space of a run; measures the latency of its requests,
 * and probes the quirks of the service. Writes nothing but the list of documents, if it was asked for. Rejects with StopError
 * when nothing can be asked or that list would not be whole, UsageError without a key, or the reason of the signal.
 */
export async function planJob(job: Job, options: PlanOptions = {}): Promise<JobPlan> {
  const context = withDefaults(options);
  const { progress, now } = context;
  const answers = new AnswerLog();
  const start = performance.now();
  await using service = await openService(job, context, { onAnswer: answers.add });
  const { client, baseUrl } = service;
  const prefetch = new Prefetch(job.service.concurrency * aheadPerSlot);
  const sizes = new RowSizes(job.output.keepSignatures);
  const inquiry = newInquiry({ api: client, prefetch, sizes });

  progress.step = "listing documents";
  const listedAt = now();
  const opening = await askOpening(client, job, prefetch, { progress: progress.requests, now });
  const { documentsOut } = options;
  if (documentsOut !== undefined) await writeGivenList(documentsOut, opening.discovery, { job, listedAt });
  progress.step = "sampling every document";
  const refs = documentsOf(opening.discovery).map(({ ref }) => ref);
  const surveys = await surveyDocuments(inquiry, refs, progress);
  requireSomething(surveys);
  progress.step = "probing the service";
  const pagesRepeat = await probePaging(inquiry, surveys);
  progress.step = "reading child lists";
  await countChildren(inquiry, surveys, job.childChunks === "none" ? 0 : (options.budget ?? usualBudget));
  await askLongest(inquiry, surveys);
  await inquiry.chunkTies.askAgain();
  await inquiry.childTies.askAgain();

  const { throttled } = progress.requests;
  const evidence = { ...inquiry, answers, surveys, pagesRepeat, withoutFields: opening.withoutFields, throttled };
  const [earlier, disk] = [await findEarlierRun(job, now), await diskSpace(job, surveys)];
  const seconds = (performance.now() - start) / 1000;
  const plan = makePlan({
    job,
    baseUrl,
    opening,
    evidence,
    sizes,
    earlier,
    disk,
    requests: progress.requests,
    seconds,
  });
  return { ...plan, documents_out: documentsOut ?? null };
}

/** Throws if no document can be read, with the error of the first. */
function requireSomething(surveys: readonly DocumentSurvey[]): void {
  const [first] = surveys;
  if (!first || surveys.some(({ total }) => total !== null)) return;
  const which = surveys.length === 1 ? "the document" : `none of the ${surveys.length} documents`;
  const what = surveys.length === 1 ? "cannot be read" : "can be read; the first";
  throw new StopError(`${which} ${what}: ${first.error}`);
}

/**
 * Asks the largest document for a page of the full size, as a run does, for its last chunk alone and its last page: whether
 * pages repeat. A document that refuses makes way for the next one. Undefined where nothing shows it.
 */
async function probePaging(inquiry: Inquiry, surveys: readonly DocumentSurvey[]): Promise<boolean | undefined> {
  const readable = surveys.filter(({ total }) => total !== null && total > 0);
  const largest = readable.sort((a, b) => (b.total ?? 0) - (a.total ?? 0)).slice(0, 3);
  for (const survey of largest) {
    try {
      return await doPagesRepeat(inquiry, survey);
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      survey.doubts.add(`a full-size page could not be read: ${error.message}`);
    }
  }
  return undefined;
}

async function doPagesRepeat(inquiry: Inquiry, survey: DocumentSurvey): Promise<boolean | undefined> {
  const { rows, total } = await readChunks(inquiry, survey, 1);
  lookForTies(inquiry, survey, 1, rows);
  if (total <= 1) return undefined;
  const last = await readLast(inquiry, survey, total, 1);
  const pages = pagesOf(total, inquiry.chunkPages.rows);
  if (pages === 1) return inquiry.chunkPages.isPaged ? last.length > 0 && last[0]?.id === rows[0]?.id : undefined;
  const lastPage = await readLast(inquiry, survey, pages);
  return lastPage.length > 0 && isSameOrder(lastPage, rows.slice(0, lastPage.length));
}

/** Rows of the last page, behind which none are left. */
async function readLast(inquiry: Inquiry, survey: DocumentSurvey, page: number, limit?: number) {
  const list = await readChunks(inquiry, survey, page, limit);
  seeHasMore(inquiry, list, false);
  return list.rows;
}

/** Bytes of the database to a byte of JSONL at the most, as measured with texts of several languages. */
const databaseShare = 0.6;
/**
 * Bytes of a compressed file to a byte of its text at the most, of gzip and of zstd alike: 0.14 to 0.24 was measured with English and with
 * code, 0.39 with Chinese in chunks of 800 characters. CSV repeats no names, so a little is added.
 */
const compressedShare = 0.5;
/** Bytes of the smallest database, and of a row in documents. */
const leastDatabase = 3_000_000;
const perDocument = 400;

/** The disk space that a run needs in its output folder, and the space that is free there. Writes nothing. */
async function diskSpace(job: Job, surveys: readonly DocumentSurvey[]): Promise<PlanDisk> {
  const { database } = foldersOf(job);
  const before = await stat(database).then(
    ({ size }) => size,
    () => 0,
  );
  const { folder, free } = await freeSpace(job.output.dir);
  const jsonl = surveys.reduce((sum, { total, sizes, childCount }) => {
    const children = job.childChunks === "none" ? 0 : childCount.count * sizes.mean("child_chunks").jsonl;
    return sum + (total ?? 0) * sizes.mean("chunks").jsonl + children + perDocument;
  }, 0);
  const needs = diskNeeds(job.output, jsonl, before);
  return { folder, ...needs, free_bytes: free, enough: free === null ? null : free >= needs.needed_bytes };
}

/**
 * The bytes that stay, and the most that a run needs at one moment, for rows that take `jsonl` bytes as JSONL. `before` is the
 * size of the database so far.
 */
export function diskNeeds(
  { formats, compress }: Pick<Job["output"], "formats" | "compress">,
  jsonl: number,
  before: number,
): Pick<PlanDisk, "needed_bytes" | "run_folder_bytes" | "database_bytes"> {
  const bytesOf = (format: FileFormat) => (formats.includes(format) ? jsonl * (formatOf(format).size ?? 1) : 0);
  const hasDatabase = formats.includes("duckdb");
  const database = hasDatabase ? Math.max(before, leastDatabase + jsonl * databaseShare) : 0;
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

/** Bytes free to us where the folder is, or will be: on the disk of the nearest folder that exists. */
async function freeSpace(path: string): Promise<{ folder: string; free: number | null }> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const facts = await statfs(folder).catch(() => undefined);
    if (facts) return { folder, free: facts.bavail * facts.bsize };
    if (dirname(folder) === folder) return { folder, free: null };
  }
}
