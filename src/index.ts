/**
 * kbdump as a library. Runs are named by their folder, such as `output/nightly/latest`.
 *
 * ```ts
 * import { defineJob, readRun, run } from "kbdump";
 * ```
 */

import { planLost } from "./compare/lost/plan-lost.js";
import type { RestorePlan } from "./compare/lost/restore-plan.js";
import { comparisonMemory } from "./duckdb/open-duckdb.js";
import type { Manifest } from "./dump/manifest.js";
import { type Dump, openDump } from "./dump/open-dump.js";
import { UsageError } from "./errors.js";
import { draftFromRecord } from "./job/draft-from-file.js";
import type { Job } from "./job/job.js";
import { jobFromDraft } from "./job/load-job.js";
import type { RunOptions } from "./job/open-service.js";
import type { JobDefinition } from "./job/schema/job-schema.js";
import { type PlanOptions, planJob } from "./plan/plan-job.js";
import type { JobPlan } from "./plan/plan-result.js";
import type { ChildChunk, Chunk } from "./rows/columns.js";
import type { RunResult } from "./run/make-run.js";
import { runJob } from "./run/run-job.js";
import { openCopies } from "./store/bucket/copies.js";
import { findNamed } from "./store/find-named.js";
import { listRuns, type RunList } from "./store/list-runs.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

export type { ChunkChange, DocumentDiff, RunDiff } from "./compare/diff-result.js";
export { diffRuns as diff } from "./compare/diff-runs.js";
export type { DocumentPlan, RestorePlan } from "./compare/lost/restore-plan.js";
export type { DiffOptions } from "./compare/runs-to-compare.js";
export type { Manifest } from "./dump/manifest.js";
export {
  BusyError,
  exitCodes,
  GaveUpError,
  InterruptedError,
  type Problem,
  RetryError,
  SkipError,
  StopError,
  UsageError,
} from "./errors.js";
export type { Job } from "./job/job.js";
export { type JobSource, loadJob } from "./job/load-job.js";
export type { RunOptions } from "./job/open-service.js";
export { emptyRunProgress, type RunProgress } from "./job/run-progress.js";
export type { JobDefinition } from "./job/schema/job-schema.js";
export type { PlanOptions } from "./plan/plan-job.js";
export type { JobPlan } from "./plan/plan-result.js";
export type { ReadProgress } from "./read-progress.js";
export { type ChildChunk, type Chunk, type Column, type ColumnType, columns, type Kind } from "./rows/columns.js";
export type { RunResult } from "./run/make-run.js";
export type { ListedRun, RunList } from "./store/list-runs.js";
export type { Finding, Verification } from "./verify/findings.js";
export { type VerifyOptions, verifyRun as verify } from "./verify/verify-run.js";

/** Checks a job and fills in its defaults. Throws UsageError with all problems, each with its setting, such as `service.base_url`. */
export function defineJob(definition: JobDefinition): Job {
  return jobFromDraft(draftFromRecord("the job", definition, {}));
}

/** Runs a job; see `runJob`. Throws UsageError if the job was not made by `defineJob` or `loadJob`. */
export async function run(job: Job, options?: RunOptions): Promise<RunResult> {
  return runJob(defined(job), options);
}

/** Plans a job; see `planJob`. Throws UsageError like `run`. */
export async function plan(job: Job, options?: PlanOptions): Promise<JobPlan> {
  return planJob(defined(job), options);
}

/** The job. Throws UsageError if it has no defaults, which happens in JavaScript. */
function defined(job: Job): Job {
  if ("childChunks" in job) return job;
  throw new UsageError("This is not a job:", [{ path: "job", message: "expected the result of defineJob or loadJob" }]);
}

/** A published run. */
export interface Run {
  /** The run folder, with symlinks resolved. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** The chunks of all documents, in order. Throws StopError before the first chunk if a file differs from what the run wrote. */
  readonly chunks: () => AsyncIterable<Chunk>;
  /** The child chunks of all documents. Throws like `chunks`. */
  readonly childChunks: () => AsyncIterable<ChildChunk>;
}

export interface ReadRunOptions {
  /** DuckDB's memory limit, used if the run has only Parquet files; default: 300MB. */
  readonly memory?: string;
}

/** Opens a run in any format. Throws UsageError if there is none, StopError if its manifest is invalid. */
export async function readRun(folder: string, { memory = comparisonMemory }: ReadRunOptions = {}): Promise<Run> {
  const dump = await openDump(folder, "nothing was read");
  return {
    folder: dump.folder,
    manifest: dump.manifest,
    chunks: () => readRows<Chunk>(dump, "chunks", memory),
    childChunks: () => readRows<ChildChunk>(dump, "child_chunks", memory),
  };
}

async function* readRows<Row>(dump: Dump, kind: "chunks" | "child_chunks", memory: string): AsyncGenerator<Row> {
  const [table] = dump.tablesOf([kind]) ?? [];
  if (!table)
    throw new UsageError("Nothing was read:", [
      { path: dump.folder, message: "its only files are CSV written with csv_safe, which changes texts" },
    ]);
  const checked = await dump.check(table);
  await using temporary = await makeTemporaryFolder("read");
  for await (const lines of dump.lines(checked, { memory, temporary: temporary.path }))
    for (const line of lines) yield JSON.parse(line);
}

export interface PlanRestoreOptions {
  /** The folder of a newer run, made after the re-index. */
  readonly against: string;
  /** Ids of documents; default: all of the older run. */
  readonly documents?: readonly string[];
  /** Whether to add manual edits at the end of their document if their place is not known; default: false. */
  readonly manualEdits?: boolean;
  readonly memory?: string;
  readonly signal?: AbortSignal;
}

/**
 * Plans how to restore edits lost in a re-index, like `kbdump restore <run> --against <newer run>`. Compares two runs and sends no
 * request. Throws UsageError if a run is unsuitable, StopError if a file differs from what its run wrote.
 */
export async function planRestore(folder: string, options: PlanRestoreOptions): Promise<RestorePlan> {
  const { against, documents = [], manualEdits = false, memory = comparisonMemory } = options;
  const { signal = new AbortController().signal } = options;
  const [old, target] = [await openDump(folder, "nothing was planned"), await openDump(against, "nothing was planned")];
  const wishes = { documents, refusals: new Map(), addManualEdits: manualEdits, decisions: undefined, memory, signal };
  return (await planLost(old, target, wishes)).plan;
}

export interface ListOptions {
  /** The folder, or `s3://bucket/prefix`, in which to look for job names; default: output. */
  readonly out?: string;
  /** Credentials of a bucket; default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Lists the runs of a job, newest first. `job`: a job, its name, its folder or its job file. Throws UsageError if there is no such job. */
export async function list(job: Job | string, options: ListOptions = {}): Promise<RunList> {
  const { env = process.env } = options;
  const word = typeof job === "string" ? job : `${job.output.bucket ?? job.output.dir}/${job.name}`;

  await using copies = openCopies(env);
  const found = await findNamed(word, { ...options, env, copies });
  if (found.kind === "job" && found.run === undefined) return listRuns(found.location, new Date(), found.copy);
  throw new UsageError("Nothing was listed:", [{ path: word, message: "expected a job, not a run" }]);
}
