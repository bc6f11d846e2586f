import { countText, durationText, numberText } from "../amounts.js";
import { type CommonArguments, defineCommand, type Environment } from "../cli/command.js";
import { brokerFrom, checkJobIsNamed, durationFrom, shardFrom } from "../cli/flag-values.js";
import { jobFrom, jobPositional, runOptions } from "../cli/options.js";
import { isProblem, wrongLine } from "../cli/parse-command-line.js";
import { renderRun } from "../cli/progress-text.js";
import { InterruptedError, LostError, type Problem, StopError, UnprintedError, UsageError } from "../errors.js";
import type { Job } from "../job/job.js";
import type { CommitState } from "../job/open-service.js";
import { emptyRunProgress, type RunProgress } from "../job/run-progress.js";
import { runResult } from "./run/result.js";

const epilog = `Examples:
  kbdump run nightly.yaml
  kbdump run nightly.yaml --format jsonl,parquet --out /backup
  kbdump run --base-url https://kb.example.com/v1 --dataset UUID --document UUID
  kbdump run --base-url https://kb.example.com/v1 --dataset UUID --document all
  kbdump run nightly.yaml --shard 3/16 --documents-from list.json

Flags override the job file. Run the same job again to resume an interrupted run.

Exit codes: 0 complete · 1 failed, nothing published · 2 wrong usage or job file · 3 published, but partial: some documents failed or changed while they were read, or latest, the database, the report or stdout could not be written · 5 another run of this job is active · 130, 143 interrupted, 143 also by --max-duration`;

/** `kbdump run [job.yaml]`: runs a job. */
export const command = defineCommand({
  name: "run [job]",
  about: "read everything in a job, and publish it",
  positionals: jobPositional,
  options: {
    ...runOptions,
    fresh: {
      type: "boolean",
      conflicts: "retry-failed",
      describe: "start over instead of resuming an interrupted run",
    },
    "retry-failed": {
      type: "boolean",
      describe: "after a partial run: read only the documents that failed, and publish everything again",
    },
    "max-duration": {
      type: "string",
      value: "TIME",
      describe: "time after which to stop, as with SIGTERM, such as 4h; the next run resumes",
    },
    shard: {
      type: "string",
      value: "N/OF",
      describe: "read part of the documents, such as 3/16: the third of 16; auto/16 in a pod of an Indexed Job",
    },
    "documents-from": {
      type: "string",
      names: "file",
      value: "FILE",
      group: "Advanced",
      describe: "list of documents written by plan --documents-out; the run does not list documents first",
    },
    workers: {
      type: "string",
      value: "BROKER",
      conflicts: "shard",
      describe:
        "address of a Redis or Valkey, such as redis://127.0.0.1:6379, from which kbdump worker processes take documents; or the name of an environment variable with it",
    },
    report: {
      type: "boolean",
      describe:
        "also write report.html next to the runs: the run as a page, with losses since the previous complete run",
    },
    "csv-safe": {
      type: "boolean",
      group: "Advanced",
      describe: "guard CSV cells that a spreadsheet would run as formulas",
    },
    "keep-signatures": { type: "boolean", group: "Advanced", describe: "keep the signatures in links to files" },
  },
  epilog,
  results: () => ({ run: runResult }),
  async run(args, environment) {
    const { env } = environment;
    checkJobIsNamed("run", args);
    // Read the flags before the job, but report their problems together with those of the job.
    const shard = args.shard === undefined ? undefined : shardFrom(args.shard, env);
    const workers = args.workers === undefined ? undefined : brokerFrom("--workers", args.workers, env);
    const limit = args.maxDuration === undefined ? undefined : durationFrom("--max-duration", args.maxDuration, bounds);
    const problems = [shard, workers, limit].filter(isProblem);
    const job = await jobFrom(args, environment, { notifies: true }).catch((error: unknown) => {
      throw error instanceof UsageError ? withProblems(error, problems, args.job) : error;
    });
    if (isProblem(shard) || isProblem(workers) || isProblem(limit)) throw wrongLine(problems);
    const { documentsFrom } = args;
    return runAndReport({ ...job, shard, documentsFrom }, args, environment, { workers, limit });
  },
});

/** Adds the problems of other flags to the error of a job, so that all are reported at once. */
function withProblems(error: UsageError, problems: readonly Problem[], file: string | undefined): UsageError {
  if (problems.length === 0) return error;
  const all = [...problems, ...error.problems];
  if (file === undefined) return wrongLine(all);
  return new UsageError(`${wrongLine(problems).message}\n${error.message}`, all, []);
}

/** The arguments of a run that are not part of its job. */
interface RunArguments extends CommonArguments {
  readonly fresh?: boolean | undefined;
  readonly retryFailed?: boolean | undefined;
  readonly report?: boolean | undefined;
}

interface RunSettings {
  /** The broker from which workers take documents. */
  readonly workers?: string | undefined;
  /** Milliseconds after which to stop. */
  readonly limit?: number | undefined;
}

/** Runs a job, shows its progress, prints the outcome, and returns the exit code. */
export async function runAndReport(
  job: Job,
  { fresh = false, retryFailed = false, report = false, ...args }: RunArguments,
  environment: Environment,
  { workers, limit }: RunSettings = {},
): Promise<number> {
  const { runJob } = await import("../run/run-job.js"); // slow to load; --help and --version do not need it
  const timeLimit = new TimeLimit(limit, environment.interrupt);
  const { env, signal, view } = environment;
  const progress = emptyRunProgress();
  const start = performance.now();
  const unwatch = view.watch(renderRun(progress, job.shard));
  const onCommit = (state: CommitState) => {
    timeLimit.committing(state);
    environment.committing(state);
  };
  const context = { env, signal, progress, log: view.log, onCommit, fresh, retryFailed, report, workers };
  const result = await runJob(job, context)
    .catch((error: unknown) => {
      throw withProgress(error, progress, { fresh });
    })
    .finally(() => {
      timeLimit.lift();
      unwatch();
    });
  const elapsed = performance.now() - start;
  const { printRun } = await import("./run/summary.js"); // slow to load
  return printRun(result, elapsed, args, environment);
}

/** The limits of `--max-duration`. Node's timers allow at most 24 days. */
const bounds = { least: 100, most: 1_728_000_000, text: "from 0.1 s to 480 h" };

/** Stops a run after its time limit. */
export class TimeLimit {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(limit: number | undefined, interrupt: (error: InterruptedError) => void) {
    if (limit === undefined) return;
    const time = durationText(limit).replace(/ 0 (h|min|s)$/, "");
    const error = new InterruptedError("SIGTERM", `stopped after ${time}, as --max-duration says`);
    this.#timer = setTimeout(interrupt, limit, error);
  }

  /** Cancels the limit: a run that is publishing must not be interrupted. */
  committing(state: CommitState): void {
    if (state !== "failed") this.lift();
  }

  lift(): void {
    clearTimeout(this.#timer);
  }
}

/** Adds to the error of a run how to resume its work. Adds nothing if no work was kept, or if another run took over. */
export function withProgress(error: unknown, progress: RunProgress, { fresh }: { readonly fresh: boolean }): unknown {
  if (!progress.isKept || error instanceof LostError || error instanceof UnprintedError) return error;
  const again = `run the same command${fresh ? " without --fresh" : ""} to resume`;
  const done = progress.documentsDone - progress.documentsFailed;
  const read = done > 0 ? [`${numberText(done)} of ${countText(progress.documents, "document")} read`] : [];
  if (error instanceof InterruptedError) return error.with(...read, "progress is kept", again);
  if (!(error instanceof StopError)) return error;
  const { status, code } = error;
  const kept = /what was read is kept/i.test(error.message) ? [] : ["what was read is kept"];
  const message = [error.message.replace(/\.$/, ""), ...read, ...kept, again].join("; ");
  const failure = { ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) };
  return new StopError(message, { ...failure, cause: error });
}
