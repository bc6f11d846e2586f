import { join } from "node:path";
import type { Client } from "../client/open-client.js";
import { readJsonFile, writeJsonFile } from "../dump/files/json-file.js";
import { captureStatus } from "../indexing/capture-status.js";
import { discoverDocuments } from "./discover/discover-documents.js";
import { type Discovery, discoveryFile, discoveryFrom } from "./discover/discovery.js";
import { readMetadataFields } from "./discover/read-metadata-fields.js";
import { lookAheadOf, type ReadOptions, readDocuments } from "./documents/read-documents.js";
import { readOnce } from "./read-once.js";
import type { Reading } from "./reading.js";
import { readingDocuments } from "./run-tally.js";

/**
 * Asks for everything that the job means, in this order: lists, status, documents and metadata fields, the lists of documents
 * again with those documents that changed, status again.
 */
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
  const { documents, notes } = await readDocuments(api, discovery, options);
  const fields = await reading;
  tally.step = "reading status";
  const after = await captureStatus(api, datasets, now);
  return { startedAt: workspace.startedAt, finishedAt: now(), discovery, documents, notes, fields, before, after };
}

/** The documents of the job by id. What the service was asked is kept: a run that is continued reads the same documents. */
async function readDiscovery(api: Client, { job, workspace, log }: ReadOptions): Promise<Discovery> {
  const path = join(workspace.work, discoveryFile);
  const earlier = discoveryFrom(await readJsonFile(path));
  if (earlier) return earlier;
  const discovery = await discoverDocuments(api, job, lookAheadOf(job));
  if (discovery.found) await writeJsonFile(path, discovery);
  for (const sentence of [...(discovery.found?.failures ?? []), ...(discovery.found?.notes ?? [])])
    log("warn", sentence);
  return discovery;
}
