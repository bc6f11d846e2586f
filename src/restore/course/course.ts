import { basename, dirname, join } from "node:path";
import type { Client } from "../../client/open-client.js";
import { isThere } from "../../dump/files/is-there.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { runJob } from "../../run/run-job.js";
import { withDefaults } from "../../run/setting/run-options.js";
import { emptyRunTally } from "../../run/setting/run-tally.js";
import { withClient } from "../../run/setting/with-client.js";
import type { RestoreOptions } from "../restore-options.js";
import { type TargetDocument, type TargetJobOptions, targetJob } from "./target-job.js";

/** Everything that all steps of a restore go by. */
export interface Course {
  /** The older run, whose rows are brought back. */
  readonly old: Dump;
  /** The service that they are brought back to. */
  readonly baseUrl: string;
  /** The database of the job, whose history has what stood there before an edit; undefined where there is none. */
  readonly database: string | undefined;
  readonly options: RestoreOptions;
}

/** The database of the job of a run, beside the folder of its runs; undefined where there is none. */
export async function databaseOf({ folder, manifest }: Dump): Promise<string | undefined> {
  if (basename(dirname(folder)) !== "runs") return undefined;
  const path = join(dirname(dirname(folder)), `${manifest.job}.duckdb`);
  return (await isThere(path)) ? path : undefined;
}

/** Dumps documents of the target as they stand, into a run of the folder `<dir>/<name>`. */
export async function dumpTarget(
  course: Course,
  { name, dir, documents }: Pick<TargetJobOptions, "name" | "dir" | "documents">,
): Promise<Dump> {
  const { tally } = course.options;
  tally.dump = emptyRunTally();
  try {
    const job = jobOf(course, { name, dir, documents });
    const { folder } = await runJob(job, { ...runOptionsOf(course), tally: tally.dump, fresh: true });
    return await openDump(folder, "nothing was restored");
  } finally {
    tally.dump = undefined;
  }
}

/** Opens the service for reading, for as long as `work` takes. */
export async function withService<T>(course: Course, dir: string, work: (client: Client) => Promise<T>): Promise<T> {
  const documents = course.old.manifest.documents; // the job of a client must name some
  return withClient(jobOf(course, { name: "before", dir, documents }), withDefaults(runOptionsOf(course)), (client) =>
    work(client),
  );
}

function jobOf(course: Course, job: { name: "before" | "after"; dir: string; documents: readonly TargetDocument[] }) {
  const withChildren = new Set(
    course.old.manifest.documents
      .filter(({ child_chunk_count }) => child_chunk_count > 0)
      .map(({ document_id }) => document_id),
  );
  const hasChildren = job.documents.some(({ document_id }) => withChildren.has(document_id));
  return targetJob({ ...job, baseUrl: course.baseUrl, hasChildren }, course.options);
}

function runOptionsOf({ options }: Course) {
  const { env, keyEnv, key, signal, log, now } = options;
  return { env: key === undefined ? env : { ...env, [keyEnv]: key }, signal, log, now };
}
