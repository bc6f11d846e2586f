import { join } from "node:path";
import type { DocumentRef } from "../client/knowledge-api.js";
import type { Client } from "../client/open-client.js";
import { LookAhead } from "../crawl/look-ahead.js";
import type { Job } from "../job/job.js";
import type { TextFormat } from "../sinks/sink.js";
import { captureStatus } from "./capture-status.js";
import type { DocumentResult } from "./document-result.js";
import { dumpDocument } from "./dump-document.js";
import { readJsonFile, writeJsonFile } from "./json-file.js";
import { readMetadataFields } from "./read-metadata-fields.js";
import { type Reading, sentenceOf } from "./reading.js";
import type { Log } from "./run-options.js";
import { type RunTally, readingDocuments } from "./run-tally.js";
import type { Workspace } from "./workspace.js";

export interface ReadOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  readonly workspace: Workspace;
  readonly tally: RunTally;
  readonly now: () => Date;
  readonly log: Log;
  readonly retryFailed: boolean;
}

/** Pages that may be under way or waiting, beyond the next one of each list, for every request in flight. */
const aheadPerSlot = 4;
/** Documents that are read at once, for every request in flight: a small one has one request under way at a time. */
const documentsPerSlot = 2;

/** Asks for everything that the job names, in this order: status, metadata fields, documents, status again. */
export async function readEverything(api: Client, options: ReadOptions): Promise<Reading> {
  const { job, tally, now, workspace } = options;
  tally.step = "reading status and fields";
  const { before, fields } = await readOpening(api, options);
  tally.step = readingDocuments;
  const documents = await readDocuments(api, options);
  tally.step = "reading status";
  const after = await captureStatus(api, job.datasets, now);
  return { startedAt: workspace.startedAt, finishedAt: now(), documents, fields, before, after };
}

/** What is read before the documents; a run that is continued has it already, unless something of it failed. */
async function readOpening(api: Client, { job, now, workspace }: ReadOptions): Promise<Opening> {
  const path = join(workspace.work, "opening.json");
  const earlier = openingFrom(await readJsonFile(path));
  if (earlier) return earlier;
  const [before, fields] = await Promise.all([
    captureStatus(api, job.datasets, now),
    readMetadataFields(api, job.datasets),
  ]);
  if (before.failures.length + fields.failures.length === 0) await writeJsonFile(path, { before, fields });
  return { before, fields };
}

type Opening = Pick<Reading, "before" | "fields">;

/** An opening as this version wrote it, which the plan of the work folder vouches for; undefined for anything else. */
function openingFrom(value: unknown): Opening | undefined {
  const whole = typeof value === "object" && value !== null && "before" in value && "fields" in value;
  return whole ? (value as Opening) : undefined;
}

async function readDocuments(api: Client, options: ReadOptions): Promise<readonly DocumentResult[]> {
  const { job, tally, workspace } = options;
  const refs = documentsOf(job);
  tally.documents = refs.length;
  const lookAhead = new LookAhead(job.service.concurrency * aheadPerSlot);
  const results: DocumentResult[] = [];
  await forEachOf(refs, job.service.concurrency * documentsPerSlot, async (ref, index) => {
    const result = await dumpDocument(api, ref, documentName(index), {
      ...options,
      parts: workspace.parts,
      lookAhead,
    }).catch((error: unknown) => {
      api.stop(error); // what cannot be skipped ends the run: the others must not go on asking
      throw error;
    });
    results[index] = result;
    tally.documentsDone++;
    if (result.row.status === "failed") tally.documentsFailed++;
    if (result.row.status !== "complete") options.log("warn", sentenceOf(result.row));
  });
  return results;
}

/** Every document of the job, in its order. */
export function documentsOf(job: Job): readonly DocumentRef[] {
  return job.datasets.flatMap(({ id, documents, status, keyword }) =>
    documents.map((documentId) => ({ datasetId: id, documentId, status, keyword })),
  );
}

/** The name of a document's parts: its place in the job. */
export function documentName(index: number): string {
  return String(index + 1).padStart(7, "0");
}

/** Works on at most `atOnce` items at a time; waits for all that were begun before it rejects with the first error. */
async function forEachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries();
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const [index, item] of queue) await work(item, index);
  });
  const outcomes = await Promise.allSettled(workers);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}
