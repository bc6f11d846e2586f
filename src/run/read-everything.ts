import type { Client } from "../client/open-client.js";
import { captureStatus, type StatusReading, statusReadingSchema } from "../indexing/capture-status.js";
import { discoverDocuments } from "./discover/discover-documents.js";
import { type Discovery, discoverySchema } from "./discover/discovery.js";
import { type FieldsReading, fieldsReadingSchema, readMetadataFields } from "./discover/read-metadata-fields.js";
import { lookAheadOf, type ReadOptions, readDocuments } from "./documents/read-documents.js";
import type { Reading } from "./reading.js";
import { readingDocuments } from "./setting/run-tally.js";
import { readOnce } from "./work/read-once.js";

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
  const { documents, notes } = await readDocuments(api, discovery, options);
  const fields = await reading;
  tally.step = "reading status";
  const after = await captureStatus(api, datasets, now);
  return { startedAt: workspace.startedAt, finishedAt: now(), discovery, documents, notes, fields, before, after };
}

/** The documents of the job by id. The service's answer is kept: a run that is continued reads the same documents. */
async function readDiscovery(api: Client, { job, workspace, log }: ReadOptions): Promise<Discovery> {
  return readOnce<Discovery>(workspace.work, "discovery", {
    schema: discoverySchema,
    read: async () => {
      const discovery = await discoverDocuments(api, job, lookAheadOf(job));
      const { failures = [], notes = [] } = discovery.found ?? {};
      for (const sentence of [...failures, ...notes]) log("warn", sentence);
      return discovery;
    },
    isWhole: ({ found }) => found !== undefined,
  });
}
