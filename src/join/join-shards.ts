import { isDeepStrictEqual } from "node:util";
import type { Manifest, ManifestShard } from "../dump/manifest.js";
import { UsageError, workError } from "../errors.js";
import { type DiskAdvice, sayDiskError } from "../file-error.js";
import { isAbsence } from "../files/files.js";
import { draftFromRecord } from "../job/draft-from-file.js";
import type { Job, Shard } from "../job/job.js";
import { jobFromDraft } from "../job/load-job.js";
import { recordedJobFile } from "../job/manifest-options.js";
import type { JobFlags } from "../job/merge-flags.js";
import { type RunOptions, withDefaults } from "../job/open-service.js";
import { emptyRunProgress, type RunProgress } from "../job/run-progress.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import { finishRun, type Gathered, isDatabaseLeft, prepareRun, type RunResult } from "../run/make-run.js";
import { openFreshWorkspace } from "../run/open-workspace.js";
import { OutcomeReport } from "../run/report-outcome.js";
import { isMapping } from "../schema.js";
import { addRequests, noRequests, type RequestSum } from "../segments/request-sum.js";
import { shellText } from "../shell-text.js";
import { readPastRuns } from "../store/keep-runs.js";
import { tool } from "../tool.js";
import { listText, shardText } from "../words.js";
import type { FoundShards } from "./find-shards.js";
import { gatherShards } from "./gather-shards.js";
import { type MergedList, mergeLists, shardsText } from "./merge-lists.js";
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

/** The run that began last. */
function newestOf<Run extends Pick<Manifest, "run_id">>(runs: readonly Run[]): Run | undefined {
  return runs.toSorted((one, other) => (one.run_id < other.run_id ? 1 : -1))[0];
}

/** The sum of all shards' requests. */
function sumOfRequests(shards: readonly Pick<Manifest, "requests" | "retries">[]): RequestSum {
  const sums = shards.map(({ requests, retries }) => ({ ...noRequests, ...requests, retriedBy: retries }));
  return sums.reduce((sum, each) => addRequests(sum, each), noRequests);
}

/**
 * A warning if another run of the job read the service after the shards did: the joined run then replaces newer rows with older
 * ones. `runs`: the folder of the runs; `end`: when the last shard ended, in milliseconds since 1970. A joined run ends with its shards.
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

/** The times of the run of a shard. */
export interface ShardTimes extends Pick<Manifest, "started_at" | "finished_at"> {
  readonly shard: Pick<ManifestShard, "index">;
}

/** Milliseconds without an active shard, after which the shards count as made at different times. */
const longestPause = 30 * 60_000;

/**
 * A sentence for each long pause between the shards' runs. Shards before the pause may be left over from an earlier night: a failed
 * shard publishes nothing, so its newest run is an older one.
 */
export function pauseSentences(shards: readonly ShardTimes[]): readonly string[] {
  const runs = shards.toSorted((one, other) => Date.parse(one.started_at) - Date.parse(other.started_at));
  return runs.flatMap(({ started_at: start }, at) => {
    const before = runs.slice(0, at);
    const end = Math.max(...before.map(({ finished_at }) => Date.parse(finished_at)));
    if (at === 0 || Date.parse(start) - end <= longestPause) return [];
    const earlier = shardsText(before.map(({ shard }) => shard.index));
    return [
      `${earlier} ended by ${timeText(end)}, and the others began at ${timeText(Date.parse(start))} or later: make the earlier ones again if they are left over from another night`,
    ];
  });
}

function timeText(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** The facts about a shard's run from its manifest. */
export interface ShardFacts extends Pick<Manifest, "job" | "run_id" | "tool" | "service" | "options"> {
  /** The run folder, for messages. */
  readonly folder: string;
  readonly shard: Pick<ManifestShard, "index" | "count" | "plan">;
}

/** The command that makes a shard. */
type RunCommand = (shard: Shard) => string;

/** Returns a function for the command that makes a shard of a job. Without a given job file, its name is a guess. */
export function runCommand(job: string, { jobFile, out, program = "kbdump" }: CommandParts): RunCommand {
  const file = shellText(jobFile ?? `${job}.yaml`);
  const more = out === undefined || jobFile !== undefined ? "" : ` --out ${shellText(out)}`;
  return ({ index, count }) => `${program} run ${file} --shard ${index}/${count}${more}`;
}

interface CommandParts {
  readonly jobFile: string | undefined;
  /** The output folder, if it is not the default. */
  readonly out: string | undefined;
  /** The words that start the program; default: `kbdump`. */
  readonly program?: string | undefined;
}

/**
 * All reasons why runs of shards are not one run, one sentence each: a job, version, plan or service that differs from the newest
 * run, and missing or repeated shards. Empty if there are none.
 */
export function problemsOfSet(shards: readonly ShardFacts[], command: RunCommand): readonly string[] {
  const newest = newestOf(shards);
  if (!newest) return ["there is none"];
  const { count } = newest.shard;
  const all = Array.from({ length: count }, (_, at) => ({ index: at + 1, count }));
  return [
    ...shards.flatMap((shard) => {
      const difference = differenceOf(shard, newest);
      if (difference === undefined) return [];
      const isOfSet = shard.job === newest.job && shard.shard.count === count;
      return [`${shard.folder}: ${difference}${isOfSet ? `; make it again: ${command(shard.shard)}` : ""}`];
    }),
    ...all.flatMap((shard) => {
      const found = shards.filter((other) => other.shard.index === shard.index && other.shard.count === count);
      if (found.length === 0) return [`${shardText(shard)} is missing; make it: ${command(shard)}`];
      const folders = found.map(({ folder }) => folder);
      return folders.length > 1 ? [`${shardText(shard)} is there twice: ${folders.join(" and ")}`] : [];
    }),
  ];
}

/** Why a shard does not belong to the run of the newest shard, or is from another version; undefined if it belongs. */
function differenceOf(shard: ShardFacts, newest: ShardFacts): string | undefined {
  const { version } = shard.tool;
  if (version !== tool.version) return `kbdump ${version} made it, and this is version ${tool.version}`;
  const [these, those] = [factsOf(shard), factsOf(newest)];
  const names = [...new Set([...these.keys(), ...those.keys()])];
  const differing = names.filter((name) => !isDeepStrictEqual(these.get(name), those.get(name)));
  return differing.length > 0
    ? `it differs from ${newest.folder}, the newest, in its ${listText(differing)}`
    : undefined;
}

/** Options that may differ between the shards, because they belong to the machine and do not change the rows. */
const ownOptions = ["service", "resume_within", "output.keep", "output.memory", "output.metrics_file"];

/** Everything that must be equal in all shards, by its name in messages. The embedded service has another port at every start. */
function factsOf({ job, shard, service, options }: ShardFacts): Map<string, unknown> {
  const { output, ...others } = options;
  const ofOutput = Object.entries(output).map(([name, value]) => [`output.${name}`, value] as const);
  const isDemo = isMapping(options.service) && options.service.demo === true;
  return new Map<string, unknown>([
    ["job", job],
    ["number of shards", shard.count],
    ["service", isDemo ? "demo" : service.base_url],
    ["plan", shard.plan],
    ...[...Object.entries(others), ...ofOutput].filter(([name]) => !ownOptions.includes(name)),
  ]);
}
