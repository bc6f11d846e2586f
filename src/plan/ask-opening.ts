import { join } from "node:path";
import type { Client } from "../client/open-client.js";
import type { RequestCounts } from "../client/request-counts.js";
import { discoverDocuments } from "../crawl/discover-documents.js";
import { type Discovery, uploadsOf } from "../crawl/discovery.js";
import type { Prefetch } from "../crawl/prefetch.js";
import { readMetadataFields } from "../crawl/read-details.js";
import { BusyError } from "../errors.js";
import type { Job } from "../job/job.js";
import { countOriginalRequests } from "../originals/ask-for-file.js";
import { captureStatus } from "../status/capture-status.js";
import { findEarlierWork } from "../store/earlier-work.js";
import { foldersOf } from "../store/folder/job-folders.js";
import { readLock, refuseHeld } from "../store/folder/lock.js";

/** The answers to the requests that a run sends before it reads documents. */
export interface Opening {
  readonly discovery: Discovery;
  readonly batches: number;
  /** Requests that a run sends for all this, retries aside. */
  readonly requests: number;
  /** Requests beside these for originals, if every document has one and no chunk has attachments. */
  readonly downloads: number;
  /** Why `requests` is not certain; empty where it is. */
  readonly doubts: readonly string[];
  /** A sentence for every list that a run will not be able to read either. */
  readonly failures: readonly string[];
  /** Datasets without a list of metadata fields, as on older services. */
  readonly withoutFields: number;
}

const originalsDoubt =
  "originals: a document may have none, files attached to chunks take two requests each, a redirect takes one more, and sizes are not known";
const noOriginalsDoubt = "originals: this release gives none; files attached to chunks take two requests each";

/**
 * Asks the same as a run does: which documents there are, the status of every batch, the metadata fields; and which route the
 * release has for originals, if the job asks for them.
 */
export async function askOpening(
  api: Client,
  job: Job,
  prefetch: Prefetch,
  { progress, now }: { readonly progress: RequestCounts; readonly now: () => Date },
): Promise<Opening> {
  const discovery = await discoverDocuments(api, job, prefetch);
  const { datasets, found } = discovery;
  const [status, fields] = await Promise.all([captureStatus(api, datasets, now), readMetadataFields(api, datasets)]);
  const batches = datasets.reduce((sum, dataset) => sum + dataset.batches.length, 0);
  const failures = [...(found?.failures ?? []), ...status.failures, ...fields.failures];
  const shaky = progress.retried > 0 && failures.length > 0;
  // batches and lists are asked again at the end, details then
  const requests = progress.sent - progress.retried + batches + (found?.pages ?? 0) + detailRequests(job, discovery);
  const uploads = job.originals ? uploadsOf(discovery).map(({ ref }) => ref) : [];
  const originals = await countOriginalRequests(api, uploads, job.details);
  return {
    discovery,
    batches,
    requests,
    downloads: originals.requests,
    doubts: [
      ...(shaky ? ["one of the first lists failed at every try"] : []),
      ...(job.originals ? [originals.hasRoute ? originalsDoubt : noOriginalsDoubt] : []),
    ],
    failures,
    withoutFields: fields.absent.length,
  };
}

/** Settings, metadata fields and tags of every dataset, and the details of every document. */
function detailRequests({ details }: Job, { datasets }: Discovery): number {
  return details ? datasets.reduce((sum, { documents }) => sum + 3 + documents.length, 0) : 0;
}

/** Other runs of the job that matter to the next one. */
export interface EarlierRun {
  /** The run that broke off and that the next one continues. */
  readonly continued: string | undefined;
  /** A sentence that names the run at work on this job; undefined if there is none. */
  readonly atWork: string | undefined;
}

/** Looks at the folder of the job, and changes nothing: neither the lock nor the work of others. */
export async function findEarlierRun(job: Job, now: () => Date): Promise<EarlierRun> {
  const folders = foldersOf(job);
  const atWork = await ownerOf(join(folders.private, "lock"));
  if (atWork !== undefined) return { continued: undefined, atWork };
  return { continued: (await findEarlierWork(folders, job, now))?.runId, atWork };
}

async function ownerOf(path: string): Promise<string | undefined> {
  try {
    const lock = await readLock(path).catch(() => undefined); // a plan can do without it
    if (lock) await refuseHeld(path, lock, Date.now());
    return undefined;
  } catch (error) {
    if (error instanceof BusyError) return error.message;
    throw error;
  }
}
