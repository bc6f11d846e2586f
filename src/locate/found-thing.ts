import type { CopyOptions, JobCopy } from "../bucket/copy/job-copy.js";
import type { JobPlace } from "../job/job.js";

export interface FindOptions extends Partial<CopyOptions> {
  /** The output folder, or `s3://bucket/prefix`, that names of jobs are looked for in; it also wins over that of a job file. Default: `output`. */
  readonly dir?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** With a run of a job in a bucket, the database of the job is fetched, too. */
  readonly withDatabase?: boolean;
}

/** The meaning of a word, with its job file read and its folders named. */
export type FoundThing =
  | { readonly kind: "run folder"; readonly folder: string }
  | { readonly kind: "database"; readonly file: string }
  /** `keep` is known of a job that was named by its file; `run` is the run that was named with it. */
  | FoundJob;

export interface FoundJob {
  readonly kind: "job";
  /** The place of the copy, where the job is in a bucket. */
  readonly place: JobPlace;
  readonly file?: string;
  readonly run?: string;
  /** Only of a job in a bucket: its manifests are copied, and no other file yet. */
  readonly copy?: JobCopy;
}
