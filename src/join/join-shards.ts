import { join } from "node:path";
import { isAbsence } from "../dump/files/is-there.js";
import { UsageError } from "../errors.js";
import { type DiskAdvice, sayDiskError } from "../file-error.js";
import type { Job } from "../job/job.js";
import { emptyReadTally, type ReadTally } from "../read-tally.js";
import { databaseOptions } from "../run/database/job-database.js";
import { isDatabaseLeft, makeRun, type RunResult } from "../run/make-run.js";
import { type RunOptions, withDefaults } from "../run/setting/run-options.js";
import { emptyRunTally, type RunTally } from "../run/setting/run-tally.js";
import { tellOutcome } from "../run/tell-outcome.js";
import { withFreshWorkspace } from "../run/with-workspace.js";
import { addRequests, type RequestSum } from "../run/work/request-sum.js";
import { problemsOfSet, type RunCommand, runCommand } from "./check-set.js";
import { newerRunSentence } from "./find-newer-run.js";
import { pauseSentences } from "./find-pauses.js";
import type { FoundShards } from "./find-shards.js";
import { gatherShards } from "./gather-shards.js";
import { jobOfRun } from "./job-of-shards.js";
import { type MergedList, mergeLists } from "./merge-lists.js";
import { type ProvedShard, proveShards } from "./prove-shards.js";
import { openShards, refusal } from "./shard-dump.js";

/** Unlike a run, a join that broke off begins anew. */
const diskAdvice: DiskAdvice = {
  full: "Nothing was published. Make room, and join again",
  broken: "Nothing was published. Check the disk, and join again",
};

/** How far a join is: `expected` and `done` are bytes that are proved, and the rest is that of a run. */
export type JoinTally = RunTally & ReadTally;

/** A tally of nothing yet. */
export function emptyJoinTally(): JoinTally {
  return { ...emptyRunTally(), ...emptyReadTally() };
}

export interface JoinOptions extends Pick<RunOptions, "signal" | "log" | "now" | "onCommit" | "env"> {
  readonly tally?: JoinTally;
  /** The output folder; default: the one that all shards lie in, or else `output`. */
  readonly out?: string | undefined;
  /** The words that start the program, for `mend`; default: `kbdump`. */
  readonly program?: string;
  /** The formats to write; default: those of the job. */
  readonly format?: readonly string[] | undefined;
}

/** A joined run, and the run folders of its shards in their order. */
export interface JoinResult extends RunResult {
  /** The commands that read what is missing in the shards; none where nothing is. */
  readonly mend: readonly string[];
  readonly shards: readonly { readonly index: number; readonly run_id: string; readonly folder: string }[];
}

/**
 * Makes one dump of the runs of shards, and publishes it as a run of their job. Proves before that they are one run: the same job,
 * version and list, each shard once, every byte. Rejects with StopError where they are not (nothing is written), UsageError, BusyError,
 * or the reason of the signal.
 */
export async function joinShards(found: FoundShards, options: JoinOptions = {}): Promise<JoinResult> {
  const tally = options.tally ?? emptyJoinTally();
  const setting = withDefaults({ ...options, tally });
  const { log, signal } = setting;
  for (const note of found.notes) log("warn", note);
  const opened = await openShards(found.folders);
  const newest = opened.toSorted((one, other) => (runIdOf(one) < runIdOf(other) ? 1 : -1))[0]?.dump.manifest;
  if (!newest) throw new UsageError("There is no shard to join", []);
  const out = options.out ?? found.dir;
  const parts = { jobFile: found.jobFile, out: found.dir }; // where the shards are made, whatever --out says
  const command = runCommand(newest.job, parts);
  const facts = opened.map(({ dump: { folder, manifest }, shard }) => ({ ...manifest, folder, shard }));
  const problems = problemsOfSet(facts, command);
  if (problems.length > 0) throw refusal(problems);
  const named = jobOfRun(newest, { out, format: options.format });
  const job = options.out === undefined ? withWorkFolder(named, found.workFolder) : named;
  const { shards, lists } = await proveShards(opened, { tally, signal });
  const union = mergeLists(lists, shards.length);
  const merged = { ...union, notes: [...union.notes, ...pauseSentences(shards)] };
  for (const sentence of [...merged.differences, ...merged.notes]) log("warn", sentence);

  const requests = sumOfRequests(shards);
  Object.assign(tally.requests, requests); // for the metrics, which tell what the run took
  const result = await tellOutcome(job, setting, ({ began, ends }) =>
    withFreshWorkspace(job, setting, keptBy(job), (workspace) => {
      began(workspace.runId, workspace);
      return ends(() =>
        makeRun(workspace, job, setting, async ({ formats }, signal) => {
          tally.step = "joining the shards";
          const { scratch, runs } = workspace;
          const end = Math.max(...shards.map(({ dump }) => Date.parse(dump.manifest.finished_at)));
          const newer = await newerRunSentence(runs, job.name, end);
          if (newer !== undefined) log("warn", newer);
          const duckDb = { ...databaseOptions(job, workspace, signal), temporary: join(scratch, "spill") };
          const reading = await gatherShards(shards, { job, merged, scratch, formats, duckDb, signal, command });
          return { reading, baseUrl: newest.service.base_url, requests };
        }),
      );
    }),
  ).catch((error: unknown) => {
    const gone = shards.find(({ dump }) => isGoneFrom(dump.folder, error));
    if (gone) throw refusal([`${gone.dump.folder}: it was removed or changed while it was joined; join again`]);
    throw sayDiskError(error, job.output.dir, tally.step, diskAdvice);
  });
  return {
    ...result,
    mend: mendingCommands(shards, merged, runCommand(newest.job, { ...parts, program: options.program })),
    shards: shards.map(({ dump, shard }) => ({
      index: shard.index,
      run_id: dump.manifest.run_id,
      folder: dump.folder,
    })),
  };
}

/** Whether an error says that nothing is at a path in a folder any more. */
function isGoneFrom(folder: string, error: unknown): boolean {
  return isAbsence(error) && error instanceof Error && "path" in error && String(error.path).startsWith(`${folder}/`);
}

function withWorkFolder(job: Job, dir = job.output.dir): Job {
  return { ...job, output: { ...job.output, dir } };
}

/** Reads again what failed in the shards, and lets those that lack documents list them anew. */
function mendingCommands(
  shards: readonly ProvedShard[],
  { unlisted }: Pick<MergedList, "unlisted">,
  command: RunCommand,
): readonly string[] {
  const stale = new Set([...unlisted.values()].map(({ own }) => own));
  return shards.flatMap(({ dump, shard }) => {
    if (stale.has(shard.index)) return [command(shard)];
    return dump.manifest.status === "partial" ? [`${command(shard)} --retry-failed`] : [];
  });
}

function runIdOf({ dump }: { readonly dump: ProvedShard["dump"] }): string {
  return dump.manifest.run_id;
}

function keptBy(job: Job): (result: RunResult) => "everything" | "nothing" {
  return (result) => (isDatabaseLeft(result, job) ? "everything" : "nothing");
}

/** The requests of all shards. */
function sumOfRequests(shards: readonly ProvedShard[]): RequestSum {
  return shards
    .map(({ dump: { manifest } }) => ({ ...manifest.requests, retriedBy: manifest.retries }))
    .reduce(addRequests, { sent: 0, retried: 0, throttled: 0, bytes: 0, retriedBy: {} } satisfies RequestSum);
}
