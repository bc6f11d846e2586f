import type { Manifest } from "../dump/manifest.js";

/**
 * Where a job publishes: a folder, or a bucket with a work folder that follows it. The work folder has the layout of any folder of a job
 * but keeps no rows. The store is for the owner of the lease: every change rejects once another run has taken over.
 */
export interface JobStore {
  /** Brings the files of a staged run to where it will be published. Readers do not see them. */
  readonly upload: (manifest: Manifest, stage: string, signal: AbortSignal) => Promise<void>;
  /** Makes a dump of what was uploaded. Rejects where nothing is published. */
  readonly commit: (manifest: Manifest, stage: string) => Promise<void>;
  /** Lets the work folder follow a commit. */
  readonly follow: (manifest: Manifest, stage: string) => Promise<void>;
  /** The folder with the rows of a published run. One that has to be fetched is fetched into `into`. */
  readonly fetchRun: (runId: string, into: string, signal: AbortSignal) => Promise<string>;
  /** Makes the local database the published one. False, and nothing is done, where it has to be fetched and has more bytes than `most`. */
  readonly fetchDatabase: (most?: number) => Promise<boolean>;
  /**
   * Replaces the database, which must still be the one that `fetchDatabase` found. If that fails, the new one stays where it is.
   * `keepsOld`: moves the one that is there aside, and resolves to its new path.
   */
  readonly replaceDatabase: (built: string, keepsOld: boolean) => Promise<string | undefined>;
  /** Publishes the report, which was written to this path in the local folder. */
  readonly publishReport: (path: string) => Promise<void>;
  /** Lets `latest` lead to a run. */
  readonly pointLatest: (runId: string) => Promise<void>;
  /** Removes a run. What is left of its files goes later. */
  readonly removeRun: (runId: string) => Promise<void>;
  /** Removes from the local folder what it need not keep. */
  readonly tidy: () => Promise<void>;
}
