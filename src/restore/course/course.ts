import type { Dump } from "../../dump/open-dump.js";
import type { RestoreOptions } from "../restore-options.js";
import { dumpTarget } from "../target/dump-target.js";
import type { TargetReading } from "../target/target-job.js";

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

/** Dumps documents of the target as they stand, into a run of the folder `<dir>/<name>`. */
export async function dumpDocuments(
  { old, baseUrl, options }: Course,
  reading: Pick<TargetReading, "name" | "dir" | "documents">,
): Promise<Dump> {
  const withChildren = new Set(
    old.manifest.documents
      .filter(({ child_chunk_count }) => child_chunk_count > 0)
      .map(({ document_id }) => document_id),
  );
  const hasChildren = reading.documents.some(({ document_id }) => withChildren.has(document_id));
  return dumpTarget({ ...options, baseUrl }, { ...reading, hasChildren }, options.tally, "nothing was restored");
}
