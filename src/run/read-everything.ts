import { join } from "node:path";
import type { Client } from "../client/open-client.js";
import { LookAhead } from "../crawl/look-ahead.js";
import type { Job } from "../job/job.js";
import type { TextFormat } from "../sinks/sink.js";
import { captureStatus } from "./capture-status.js";
import { discoverDocuments } from "./discover-documents.js";
import { type Discovery, discoveryFile, discoveryFrom, documentsOf, type PlacedDocument } from "./discovery.js";
import { namesIn } from "./document-parts.js";
import type { DumpedDocument } from "./document-result.js";
import { dumpDocument } from "./dump-document.js";
import { readJsonFile, writeJsonFile } from "./json-file.js";
import { readMetadataFields } from "./read-metadata-fields.js";
import { readOnce } from "./read-once.js";
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
const aheadPerSlot = 2;
/** Documents that are read at once, for every request in flight: a small one has one request under way at a time. */
const documentsPerSlot = 2;

/** Asks for everything that the job means, in this order: lists, status, documents and metadata fields, status again. */
export async function readEverything(api: Client, options: ReadOptions): Promise<Reading> {
  const { tally, now, workspace } = options;
  const { work } = workspace;
  tally.step = "listing documents";
  const discovery = await readDiscovery(api, options);
  const { datasets } = discovery;
  tally.step = "reading status";
  const before = await readOnce(work, "status", () => captureStatus(api, datasets, now));
  tally.step = readingDocuments;
  const reading = readOnce(work, "fields", () => readMetadataFields(api, datasets));
  reading.catch(() => {}); // seen below, unless the documents end the run before
  const documents = await readDocuments(api, documentsOf(discovery), options);
  const fields = await reading;
  tally.step = "reading status";
  const after = await captureStatus(api, datasets, now);
  return { startedAt: workspace.startedAt, finishedAt: now(), discovery, documents, fields, before, after };
}

/** The documents of the job by id. What the service was asked is kept: a run that is continued reads the same documents. */
async function readDiscovery(api: Client, { job, workspace, log }: ReadOptions): Promise<Discovery> {
  const path = join(workspace.work, discoveryFile);
  const earlier = discoveryFrom(await readJsonFile(path));
  if (earlier) return earlier;
  const discovery = await discoverDocuments(api, job, new LookAhead(job.service.concurrency * aheadPerSlot));
  if (discovery.found) await writeJsonFile(path, discovery);
  for (const sentence of [...(discovery.found?.failures ?? []), ...(discovery.found?.notes ?? [])])
    log("warn", sentence);
  return discovery;
}

async function readDocuments(
  api: Client,
  documents: readonly PlacedDocument[],
  options: ReadOptions,
): Promise<readonly DumpedDocument[]> {
  const { job, tally, workspace } = options;
  tally.documents = documents.length;
  const lookAhead = new LookAhead(job.service.concurrency * aheadPerSlot);
  const begun = await namesIn(workspace.parts);
  const results: DumpedDocument[] = [];
  await forEachOf(documents, job.service.concurrency * documentsPerSlot, async ({ ref, name }, index) => {
    const result = await dumpDocument(api, ref, name, {
      ...options,
      parts: workspace.parts,
      begun,
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
