import type { DocumentRef } from "../client/knowledge-api.js";
import type { Client } from "../client/open-client.js";
import { LookAhead } from "../crawl/look-ahead.js";
import type { Job } from "../job/job.js";
import type { Kind } from "../normalise/columns.js";
import type { TextFormat } from "../sinks/sink.js";
import { captureStatus } from "./capture-status.js";
import { type DocumentResult, dumpDocument } from "./dump-document.js";
import { readMetadataFields } from "./read-metadata-fields.js";
import { type Reading, sentenceOf } from "./reading.js";
import type { Log } from "./run-options.js";
import { type RunTally, readingDocuments } from "./run-tally.js";

export interface ReadOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  /** The folder of the parts. */
  readonly parts: string;
  readonly tally: RunTally;
  readonly now: () => Date;
  readonly log: Log;
}

/** Pages that may be under way or waiting, beyond the next one of each list, for every request in flight. */
const aheadPerSlot = 4;
/** Documents that are read at once, for every request in flight: a small one has one request under way at a time. */
const documentsPerSlot = 2;

/** Asks for everything that the job names, in this order: status, metadata fields, documents, status again. */
export async function readEverything(api: Client, options: ReadOptions): Promise<Reading> {
  const { job, tally, now } = options;
  const drift: Record<string, number> = {};
  const countDrift = (kind: Kind, field: string) => {
    drift[`${kind}.${field}`] = (drift[`${kind}.${field}`] ?? 0) + 1;
  };
  const rowOptions = { keepSignatures: job.output.keepSignatures, drift: countDrift };
  const startedAt = now();

  tally.step = "reading status and fields";
  const [before, fields] = await Promise.all([
    captureStatus(api, job.datasets, rowOptions, now),
    readMetadataFields(api, job.datasets, rowOptions),
  ]);
  tally.step = readingDocuments;
  const documents = await readDocuments(api, options);
  tally.step = "reading status";
  const after = await captureStatus(api, job.datasets, rowOptions, now);

  return { startedAt, finishedAt: now(), documents, fields, before, after, drift };
}

async function readDocuments(api: Client, options: ReadOptions): Promise<readonly DocumentResult[]> {
  const { job, tally } = options;
  const refs = documentsOf(job);
  tally.documents = refs.length;
  const lookAhead = new LookAhead(job.service.concurrency * aheadPerSlot);
  const results: DocumentResult[] = [];
  await forEachOf(refs, job.service.concurrency * documentsPerSlot, async (ref, index) => {
    const result = await dumpDocument(api, ref, documentName(index), { ...options, lookAhead }).catch(
      (error: unknown) => {
        api.stop(error); // what cannot be skipped ends the run: the others must not go on asking
        throw error;
      },
    );
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
