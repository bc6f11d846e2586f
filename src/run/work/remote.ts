import { relative } from "node:path";
import type { Bucket } from "../../bucket/bucket.js";
import type { Manifest } from "../../dump/manifest/manifest.js";
import type { JobPlace } from "../../job/job.js";

/**
 * The bucket of a job, as the run that holds it uses it. Whatever is published goes there first, and then into the work folder,
 * which has the layout of any folder of a job but keeps no rows of its runs. Every change rejects with LostError once another
 * run has taken over.
 */
export interface Remote {
  /** Uploads the files of a staged run; nobody sees them. Resolves to the commit, which makes a dump of them. */
  readonly uploadRun: (manifest: Manifest, stage: string, signal: AbortSignal) => Promise<() => Promise<void>>;
  /** Writes the manifest and the rows of a published run into a new folder, which stands in a folder of its holder. */
  readonly fetchRun: (runId: string, folder: string, signal: AbortSignal) => Promise<void>;
  /** Makes the database in the work folder that of the bucket. False, and nothing is done, where it has more bytes than `most`. */
  readonly bringDatabase: (most?: number) => Promise<boolean>;
  /** Replaces the database, which must still be the one that `bringDatabase` found. StopError where it is not. */
  readonly publishDatabase: (path: string) => Promise<void>;
  readonly publishReport: (path: string) => Promise<void>;
  /** Takes a run off the list, and removes its files. */
  readonly dropRun: (runId: string) => Promise<void>;
  /** The place of the job, for the exchange of a run. Only what head.json lists is a dump. */
  readonly bucket: Bucket;
  /** Does work again, which must do no harm twice, while the store is gone for as long as `service.outage` allows. */
  readonly outlast: <T>(work: () => Promise<T>) => Promise<T>;
  /** Rejects with LostError unless the job is still held. */
  readonly confirm: () => Promise<void>;
}

/** A path below the folder of a job as users know it: where the job has a bucket, its address there. */
export function shownPath({ output }: JobPlace, path: string): string {
  return output.bucket === undefined ? path : `${output.bucket}/${relative(output.dir, path)}`;
}
