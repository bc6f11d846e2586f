import type { Manifest } from "../dump/manifest.js";

/**
 * The store that a job publishes to: a folder, or a bucket with a local work folder. The work folder has the layout of a job
 * folder, but keeps no rows. Only the owner of the lease may use the store: changes reject once another run has taken over.
 */
export interface JobStore {
  /** Uploads the files of a staged run. Readers do not see them yet. */
  readonly upload: (manifest: Manifest, stage: string, signal: AbortSignal) => Promise<void>;
  /** Publishes the uploaded run. Rejects if nothing is published. */
  readonly commit: (manifest: Manifest, stage: string) => Promise<void>;
  /** Updates the work folder after a commit. */
  readonly follow: (manifest: Manifest, stage: string) => Promise<void>;
  /** Returns the folder with the rows of a published run, fetched into `into` if necessary. */
  readonly fetchRun: (runId: string, into: string, signal: AbortSignal) => Promise<string>;
  /** Fetches the published database if the local one differs. Returns false, and fetches nothing, if it has more bytes than `most`. */
  readonly fetchDatabase: (most?: number) => Promise<boolean>;
  /**
   * Replaces the database, which must still be the one that `fetchDatabase` found. If that fails, the new database stays in its
   * place. `keepsOld`: moves the old database aside and returns its new path.
   */
  readonly replaceDatabase: (built: string, keepsOld: boolean) => Promise<string | undefined>;
  /** Publishes the report at this path in the local folder. */
  readonly publishReport: (path: string) => Promise<void>;
  /** Points `latest` to a run. */
  readonly pointLatest: (runId: string) => Promise<void>;
  /** Removes a run. Files that cannot be removed now are removed later. */
  readonly removeRun: (runId: string) => Promise<void>;
  /** Removes unneeded files from the local folder. */
  readonly tidy: () => Promise<void>;
}
