import { join } from "node:path";
import { shareOf } from "../duckdb/open-duckdb.js";
import type { RowFiles, StagedRows } from "../dump/formats/format.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import type { Workspace } from "../store/lease.js";
import { buildFromStaged } from "./build-database.js";
import { isCorruption, isReadable } from "./inspect-database.js";
import { databaseOptions, newDatabase } from "./job-database.js";
import { type PreparedDatabase, prepareWithout } from "./prepare-database.js";
import type { RunFacts } from "./tables.js";

export interface DatabaseWriterOptions {
  readonly job: Job;
  readonly workspace: Workspace;
  /** The database of earlier runs; undefined if there is none. */
  readonly previous: string | undefined;
  /** Status snapshots that `kbdump status` left for the next run. */
  readonly waiting: readonly RowFiles[];
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Builds the job's database from the rows of a run. If the published database turned out to be damaged, returns sentences
 * about lost data; otherwise undefined.
 */
export type DatabaseWriter = (staged: StagedRows & RunFacts) => Promise<readonly string[] | undefined>;

/**
 * Opens the writer of a job's database. The database was checked before the crawl, possibly hours ago. If a block turns out to be
 * damaged now, the writer builds a new database from the run folders and adds this run.
 */
export function openDatabaseWriter(options: DatabaseWriterOptions): DatabaseWriter {
  const { job, workspace, previous, waiting, log, signal } = options;
  const duckDb = { ...databaseOptions(job, workspace, signal), temporary: join(workspace.scratch, "spill") };
  const target = join(workspace.scratch, newDatabase);
  let renewed: PreparedDatabase | undefined;
  return async (staged) => {
    const share = shareOf(duckDb, staged.instances);
    const buildUpon = (base: string | undefined) =>
      buildFromStaged(staged, { ...share, previous: base, target, waiting });
    const base = renewed ? renewed.previous : previous;
    try {
      await buildUpon(base);
    } catch (error) {
      const isBroken = isCorruption(error) && base !== undefined && !(await isReadable(base, share));
      if (!isBroken) throw error;
      renewed = await prepareWithout(base, workspace, job, share, log);
      await buildUpon(renewed.previous);
    }
    return renewed?.losses;
  };
}
