import { join } from "node:path";
import { duckDbSink } from "../../database/build-database.js";
import { isCorruption, isReadable } from "../../database/inspect-database.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import type { JsonlFile, Sink } from "../../sinks/sink.js";
import type { Workspace } from "../workspace.js";
import { databaseOptions, newDatabase } from "./job-database.js";
import { type PreparedDatabase, prepareWithout } from "./prepare-database.js";

export interface DatabaseSinkOptions {
  readonly job: Job;
  readonly workspace: Workspace;
  /** The database of the earlier runs; undefined if there is none. */
  readonly previous: string | undefined;
  /** Readings of the indexing status that `kbdump status` left waiting. */
  readonly waiting: readonly JsonlFile[];
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called if the published database turns out to be damaged; the sentences say which data is lost with it. */
  readonly onDamage: (losses: readonly string[]) => void;
}

/**
 * The database of a job as a sink. The look at it before the crawl does not read every block. If a block turns out to be
 * damaged now, the sink builds a new database from the run folders and adds this run to it.
 */
export function jobDatabaseSink(options: DatabaseSinkOptions): Sink {
  const { job, workspace, previous, waiting, log, signal, onDamage } = options;
  const duckDb = { ...databaseOptions(job, workspace, signal), temporary: join(workspace.scratch, "spill") };
  const target = join(workspace.scratch, newDatabase);
  const sinkUpon = (base: string | undefined) => duckDbSink({ ...duckDb, previous: base, target, waiting });
  let renewed: PreparedDatabase | undefined;
  return {
    format: "duckdb",
    finish: async (stage) => {
      const base = renewed ? renewed.previous : previous;
      try {
        return await sinkUpon(base).finish(stage);
      } catch (error) {
        const isBroken = isCorruption(error) && base !== undefined && !(await isReadable(base, duckDb));
        if (!isBroken) throw error;
        renewed = await prepareWithout(base, workspace, job, duckDb, log);
        onDamage(renewed.losses);
        return sinkUpon(renewed.previous).finish(stage);
      }
    },
  };
}
