import type { Manifest } from "../dump/manifest.js";
import { UsageError, workError } from "../errors.js";
import { type DiskAdvice, sayDiskError } from "../file-error.js";
import { isAbsence } from "../files/files.js";
import { draftFromRecord } from "../job/draft-from-file.js";
import type { Job } from "../job/job.js";
import { jobFromDraft } from "../job/load-job.js";
import { recordedJobFile } from "../job/manifest-options.js";
import type { JobFlags } from "../job/merge-flags.js";
import { type RunOptions, withDefaults } from "../job/open-service.js";
import { emptyRunProgress, type RunProgress } from "../job/run-progress.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import { finishRun, type Gathered, isDatabaseLeft, prepareRun, type RunResult } from "../run/make-run.js";
import { openFreshWorkspace } from "../run/open-workspace.js";
import { OutcomeReport } from "../run/report-outcome.js";
import { addRequests, noRequests, type RequestSum } from "../segments/request-sum.js";
import { readPastRuns } from "../store/keep-runs.js";
import { newestOf, pauseSentences, problemsOfSet, type RunCommand, runCommand } from "./check-shard-set.js";
import type { FoundShards } from "./find-shards.js";
import { gatherShards } from "./gather-shards.js";
import { type MergedList, mergeLists } from "./merge-lists.js";
import { openShards, proveShards, refusal, type ShardDump } from "./prove-shards.js";

/** The advice for disk errors. Unlike a run, an interrupted join starts over. */
const diskAdvice: DiskAdvice = {
  full: "Nothing was published. Make room, and join again",
  broken: "Nothing was published. Check the disk, and join again",
};

/** The progress of a join: `expected` and `done` are verified bytes, the rest is as in a run. */
export type JoinProgress = RunProgress & ReadProgress;

/** The progress before a join has done anything. */
export function emptyJoinProgress(): JoinProgress {
  return { ...emptyRunProgress(), ...emptyReadProgress() };
}

export interface JoinOptions extends Pick<RunOptions, "signal" | "log" | "now" | "onCommit" | "env"> {
  readonly progress?: JoinProgress;
  /** The output folder; default: the shards' common one, otherwise `output`. */
  readonly out?: string | undefined;
  /** The words that start the program, for `mend`; default: `kbdump`. */
  readonly program?: string;
  /** The formats to write; default: the formats of the job. */
  readonly format?: readonly string[] | undefined;
}

/** A joined run, and the run folders of its shards in order. */
export interface JoinResult extends RunResult {
  /** The commands that read what is missing from the shards; empty if nothing is. */
  readonly mend: readonly string[];
  readonly shards: readonly { readonly index: number; readonly run_id: string; readonly folder: string }[];
}

/**
 * Makes one dump from the runs of shards, and publishes it as a run of their job. First proves that they belong together and
 * are intact: the same job, version and list, each shard once, no byte changed. Rejects with StopError if not (nothing is written),
 * UsageError, BusyError, or the reason of the signal.
 */
export async function joinShards(found: FoundShards, options: JoinOptions = {}): Promise<JoinResult> {
  const progress = options.progress ?? emptyJoinProgress();
  const context = withDefaults({ ...options, progress });
  const { log, signal } = context;
  for (const note of found.notes) log("warn", note);
  const shards = await openShards(found.folders);
  const facts = shards.map(({ dump: { folder, manifest }, shard }) => ({ ...manifest, folder, shard }));
  const newest = newestOf(facts);
  if (!newest) throw new UsageError("There is no shard to join", []);
  const out = options.out ?? found.dir;
  const made = { jobFile: found.jobFile, out: found.dir }; // for the suggested commands, which must name where the shards were made, not --out
  const command = runCommand(newest.job, made);
  const problems = problemsOfSet(facts, command);
  if (problems.length > 0) throw refusal(problems);
  const workFolder = options.out === undefined ? found.workFolder : undefined;
  const job = jobOfRun(newest, { out, format: options.format }, workFolder);
  const union = mergeLists(await proveShards(shards, { progress, signal }), shards.length);
  const merged = { ...union, notes: [...union.notes, ...pauseSentences(facts)] };
  for (const sentence of [...merged.differences, ...merged.notes]) log("warn", sentence);

  const requests = sumOfRequests(facts);
  Object.assign(progress.requests, requests); // so that the metrics show the requests of all shards
  const outcome = new OutcomeReport(job, context);
  const service = { baseUrl: newest.service.base_url, requests };
  let result: RunResult;
  try {
    result = await gatherAndPublish(shards, { job, context, merged, command, service, outcome });
    await outcome.succeeded(result);
  } catch (thrown) {
    const error = explained(workError(thrown), shards, job, progress);
    await outcome.failed(error);
    throw error;
  }
  return {
    ...result,
    mend: mendingCommands(shards, merged, runCommand(newest.job, { ...made, program: options.program })),
    shards: shards.map(({ dump, shard }) => ({
      index: shard.index,
      run_id: dump.manifest.run_id,
      folder: dump.folder,
    })),
  };
}

interface GatherOptions {
  readonly job: Job;
  readonly context: Required<RunOptions>;
  readonly merged: MergedList;
  readonly command: RunCommand;
  /** The service that the shards read, and the number of requests. */
  readonly service: Pick<Gathered, "baseUrl" | "requests">;
  readonly outcome: OutcomeReport;
}

async function gatherAndPublish(shards: readonly ShardDump[], options: GatherOptions): Promise<RunResult> {
  const { job, context, merged, command, service, outcome } = options;
  const { progress, log } = context;
  await using workspace = await openFreshWorkspace(job, context);
  outcome.began(workspace);
  try {
    const prepared = await prepareRun(workspace, job, context);
    const { signal, outputs } = prepared;
    progress.step = "joining the shards";
    const { scratch, runs } = workspace;
    const end = Math.max(...shards.map(({ dump }) => Date.parse(dump.manifest.finished_at)));
    const newer = await newerRunSentence(runs, job.name, end);
    if (newer !== undefined) log("warn", newer);
    const { formats } = outputs;
    const reading = await gatherShards(shards, { job, merged, scratch, formats, signal, command });
    const result = await finishRun(workspace, job, context, prepared, { reading, ...service });
    workspace.keep(isDatabaseLeft(result, job) ? "everything" : "nothing");
    await outcome.published(result);
    return result;
  } catch (error) {
    await outcome.broke(error);
    throw await workspace.explain(error);
  }
}

/** Explains an error of the disk, or of a shard that was deleted during the join. */
function explained(
  error: unknown,
  shards: readonly ShardDump[],
  job: Job,
  { step }: Pick<RunProgress, "step">,
): unknown {
  const gone = shards.find(({ dump }) => isGoneFrom(dump.folder, error));
  if (gone) return refusal([`${gone.dump.folder}: it was removed or changed while it was joined; join again`]);
  return sayDiskError(error, job.output.dir, step, diskAdvice);
}

/** Whether an error says that a path in a folder no longer exists. */
function isGoneFrom(folder: string, error: unknown): boolean {
  return isAbsence(error) && error instanceof Error && "path" in error && String(error.path).startsWith(`${folder}/`);
}

/** The commands that read failed shards again, and make shards that lack documents list them again. */
function mendingCommands(
  shards: readonly ShardDump[],
  { unlisted }: MergedList,
  command: RunCommand,
): readonly string[] {
  const stale = new Set(unlisted.map(({ own }) => own));
  return shards.flatMap(({ dump, shard }) => {
    if (stale.has(shard.index)) return [command(shard)];
    return dump.manifest.status === "partial" ? [`${command(shard)} --retry-failed`] : [];
  });
}

/** The sum of all shards' requests. */
function sumOfRequests(shards: readonly Pick<Manifest, "requests" | "retries">[]): RequestSum {
  const sums = shards.map(({ requests, retries }) => ({ ...noRequests, ...requests, retriedBy: retries }));
  return sums.reduce((sum, each) => addRequests(sum, each), noRequests);
}

/**
 * A warning if another run of the job read the service after the shards did: the joined run then replaces newer rows with older
 * ones. `runs`: the folder of the runs; `end`: when the last shard ended, in milliseconds since 1970. An earlier join of the same
 * shards has this end too, and causes no warning.
 */
async function newerRunSentence(runs: string, job: string, end: number): Promise<string | undefined> {
  const past = await readPastRuns(runs, job);
  const newest = past.runs.toSorted((one, other) => (other.finishedAt ?? 0) - (one.finishedAt ?? 0))[0];
  if (!newest || (newest.finishedAt ?? 0) <= end) return undefined;
  return `run ${newest.runId} read the service after these shards did: latest and the database go back to what the shards read. Make the shards again, and join those`;
}

/**
 * The job of a run, from the options in its manifest, overridden by flags. It has no key and sends no notifications. Throws
 * UsageError with every invalid flag.
 */
function jobOfRun(manifest: Pick<Manifest, "options" | "service">, flags: JobFlags, workFolder?: string): Job {
  const job = jobFromDraft(draftFromRecord("the options of the shards", recordedJobFile(manifest), flags));
  return { ...job, output: { ...job.output, dir: workFolder ?? job.output.dir } };
}
