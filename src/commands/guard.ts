import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { countText } from "../amounts.js";
import { type Arguments, defineCommand, type Environment, type Options } from "../cli/command.js";
import { checkJobIsNamed, durationFrom } from "../cli/flag-values.js";
import { comparisonMemoryOption, itemsOf, jobFrom, jobOptions, jobPositional } from "../cli/options.js";
import { renderRun, renderWork } from "../cli/progress.js";
import { pageFor, terminalText } from "../cli/text.js";
import type { Rendering } from "../cli/view.js";
import { InterruptedError, StopError, UsageError } from "../errors.js";
import type { Job } from "../job/job.js";
import { emptyRunProgress } from "../job/run-progress.js";
import type { GuardedDocument, ReindexProgress } from "../restore/guard.js";
import { emptyRestoreProgress, type RestoreResult, restoreResult } from "../restore/lost/restore-options.js";
import type { RunResult } from "../run/make-run.js";
import { result, text } from "../schema.js";
import type { Invocation } from "../shell-text.js";
import { applyCommand, renderPlan } from "./restore/plan.js";
import { askToApply } from "./restore/questions.js";
import { renderRestored } from "./restore/restored.js";
import {
  endRestore,
  keyFrom,
  type Times,
  targetOptionsFrom,
  timesFrom,
  watchBetweenQuestions,
  writeOptions,
} from "./restore/shared.js";
import { renderRestore } from "./restore.js";

const epilog = `Examples:
  kbdump guard nightly.yaml --document UUID
  kbdump guard --base-url https://kb.example.com/v1 --dataset UUID --document UUID,UUID

guard backs up the documents now, waits until you have indexed them again, backs them up again, shows what was lost, and restores it once you confirm. It writes nothing before that. The backups are runs of a separate job, such as nightly-guard. It reads with the key of the job, and writes with the key in --key-env.

Exit codes: 0 nothing was lost, or all is back and proved · 1 failed · 2 wrong usage or job file, no key, or no such document · 3 some rows need your decision, or could not be restored · 4 the proof found a difference · 5 another backup or restore is active · 130, 143 interrupted, or answered with no; the backups stay`;

const { batch: _, ...guardedJob } = jobOptions;

const options = {
  ...guardedJob,
  out: {
    ...guardedJob.out,
    describe: "output folder; overrides output.dir of the job file; default: output",
  },
  document: {
    ...jobOptions.document,
    group: "Options",
    describe: "UUIDs of documents to guard, with commas or repeated",
  },
  yes: { type: "boolean", default: false, describe: "restore without asking; needed without a terminal" },
  "key-env": writeOptions["key-env"],
  interval: {
    type: "string",
    default: "5",
    value: "TIME",
    describe: "time between two polls of the documents; default: 5 seconds",
  },
  "max-rps": writeOptions["max-rps"],
  timeout: writeOptions.timeout,
  settle: writeOptions.settle,
  "lock-time": writeOptions["lock-time"],
  ...comparisonMemoryOption,
} as const satisfies Options;

type GuardArguments = Arguments<typeof jobPositional & typeof options>;

const guardResult = v.pipe(
  result({
    backup: v.pipe(text, v.description("the run folder of the backup before the re-index")),
    after: v.pipe(text, v.description("that of the backup after it")),
    restore: restoreResult,
  }),
  v.title("Result of kbdump guard --json"),
);

/** `kbdump guard [job]`: guides you through a re-index in one command. */
export const command = defineCommand({
  name: "guard [job]",
  about: "back up documents, wait for their re-index, and bring back what it destroyed",
  positionals: jobPositional,
  options,
  epilog,
  results: () => ({ guard: guardResult }),
  async run(args, environment) {
    checkJobIsNamed("guard", args);
    return guard(args, await checkedTimes(args, environment), environment);
  },
});

interface GuardTimes extends Times {
  /** Milliseconds between polls of the documents. */
  readonly interval: number;
}

const intervalBounds = { least: 100, most: 3_600_000, text: "from 0.1 s to 1 h" };

/** Parses the times of the command line, in milliseconds. Throws UsageError with every problem. */
async function checkedTimes(args: GuardArguments, { openTerminal }: Environment): Promise<GuardTimes> {
  const { checkIds } = await import("../job/check-job.js"); // slow to load; --help does not need it
  const interval = durationFrom("--interval", args.interval, intervalBounds);
  const problems = [
    ...checkIds("--document", itemsOf(args.document)),
    ...(itemsOf(args.document).length === 0
      ? [{ path: "--document", message: "name the documents to guard by their UUIDs, as kbdump plan lists them" }]
      : []),
    ...(typeof interval === "number" ? [] : [interval]),
    ...(args.yes || openTerminal !== undefined ? [] : [{ path: "--yes", message: noTerminal }]),
  ];
  return { ...timesFrom(args, problems), interval: Number(interval) };
}

const noTerminal = "there is no terminal for questions: add --yes to write the lost rows without asking";

async function guard(args: GuardArguments, times: GuardTimes, environment: Environment): Promise<number> {
  const { env, signal, view } = environment;
  const key = await keyFrom(args.keyEnv, env); // before a re-index starts
  const { checkKey, findChanged, guardJob, readGuarded } = await import("../restore/guard.js"); // slow to load; --help does not need it
  const asked = { env, signal, log: view.log };
  const document = args.job === undefined ? args.document : undefined; // the documents of a job file are chosen below
  const owners = await jobFrom({ ...args, document }, {}, environment);
  if (owners.service.demo) throw new UsageError(demoEnds, []);
  if (owners.output.bucket !== undefined) throw new UsageError(needsFolder, []);
  const job = await guardJob(owners, itemsOf(args.document), asked);
  const documents = await readGuarded(job, asked);
  await checkKey(job, documents, args.keyEnv, asked);

  const backup = await backUp(job, environment);
  const next = restoreInvocation(backup.folder, args, environment);
  try {
    if (backup.status !== "complete")
      throw new StopError(
        `the backup is not complete, so do not start the re-index: see ${terminalText(backup.folder)}`,
      );
    const changed = await findChanged(job, documents, asked);
    if (changed)
      throw new StopError(
        `document ${changed.document_id} was indexed again before the backup was complete, so it may lack edits`,
      );
    return await waitAndRestore({ args, times, key, job, documents, backup, next }, environment);
  } catch (error) {
    throw withNext(error, next);
  }
}

interface Guarding {
  readonly args: GuardArguments;
  readonly times: GuardTimes;
  /** The key with write access. */
  readonly key: string;
  readonly job: Job;
  readonly documents: readonly GuardedDocument[];
  readonly backup: RunResult;
  /** The command that continues from the backup. */
  readonly next: Invocation;
}

/** Waits for the re-index after the first backup, then restores. Returns the exit code. */
async function waitAndRestore(guarding: Guarding, environment: Environment): Promise<number> {
  const { args, times, job, documents, backup, next } = guarding;
  const { env, signal, view } = environment;
  const { waitForReindex } = await import("../restore/guard.js");
  const which = documents.length === 1 ? "the document" : "the documents";
  view.log("info", `backed up: ${countsText(backup)}; ${terminalText(backup.folder)}`);
  view.log("info", `start the re-index now; do not edit ${which} until this command has ended`);
  const progress = { done: 0, begun: 0, of: documents.length };
  const unwatch = view.watch(renderWait(progress));
  const waiting = { interval: times.interval, progress, signal, sleep: pause };
  await waitForReindex(job, documents, waiting, { env, log: view.log }).finally(unwatch);
  await pause(apart, signal).catch(() => signal.throwIfAborted());
  const after = await backUp(job, environment);
  if (after.status !== "complete") view.log("warn", `the backup after the re-index is not complete: ${after.folder}`);
  const restored = await restore(guarding, environment);
  const whole = { backup: backup.folder, after: after.folder, restore: restored };
  const written = { ...args, apply: true };
  return endRestore(restored, renderRestored, { args: written, environment, next, whole });
}

const demoEnds =
  "guard needs a service that keeps running: that of service.demo ends with each run. Try kbdump serve --demo";

const needsFolder = "guard keeps its backups in a folder, and this job writes to a bucket: name a folder with --out";

/** Runs the job once to make a backup. */
async function backUp(job: Job, { env, signal, view }: Environment): Promise<RunResult> {
  const { runJob } = await import("../run/run-job.js"); // slow to load
  const progress = emptyRunProgress();
  const unwatch = view.watch(renderRun(progress));
  return runJob(job, { env, signal, progress, log: view.log }).finally(unwatch);
}

/**
 * Milliseconds to wait between the end of the re-index and the restore. The service stores whole seconds, so a chunk added in the
 * second in which indexing ended would not count as added in the next restore.
 */
const apart = 2_000;

function countsText({ manifest: { counts } }: RunResult): string {
  const { documents, chunks, child_chunks } = counts;
  return `${countText(documents, "document")}, ${countText(chunks, "chunk")}, ${countText(child_chunks, "child chunk")}`;
}

function renderWait(progress: ReindexProgress): Rendering {
  const rendering = renderWork(() => {
    const { done, begun, of } = progress;
    const note = begun > 0 ? `${countText(begun, "document")} being indexed` : undefined;
    const counts = [{ noun: "document", done, of }];
    return { step: "waiting for the re-index", unit: "document", done, of, counts, note };
  });
  return { ...rendering, isEndless: true };
}

function pause(milliseconds: number, ending: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal: ending });
}

/** The command that continues from a backup, with the flags that matter to it. */
function restoreInvocation(folder: string, args: GuardArguments, { program, env }: Environment): Invocation {
  const flags = [
    ...(args.keyEnv === writeOptions["key-env"].default ? [] : ["--key-env", args.keyEnv]),
    ...(args.allowHttp ? ["--allow-http"] : []),
    ...(args.maxRps === undefined ? [] : ["--max-rps", String(args.maxRps)]),
    ...(args.memory === comparisonMemoryOption.memory.default ? [] : ["--memory", args.memory]),
    ...(args.baseUrl !== undefined && env.KNOWLEDGE_BASE_URL !== undefined ? ["--to", args.baseUrl] : []),
  ];
  return { program: program(), args: ["restore", folder, ...flags] };
}

/** Adds to an error after the first backup the command that continues from it. */
function withNext(error: unknown, next: Invocation): unknown {
  const hint = `the backup stays; once no document is being indexed: ${applyCommand(next)}`;
  if (error instanceof InterruptedError)
    return new InterruptedError(error.exitCode === 130 ? "SIGINT" : "SIGTERM", `${error.message}; ${hint}`);
  return error instanceof StopError ? new StopError(`${error.message}; ${hint}`, { cause: error }) : error;
}

/** Shows what the re-index destroyed, and restores it if the user confirms. */
async function restore({ args, times, key, job, backup }: Guarding, environment: Environment): Promise<RestoreResult> {
  const { restoreLost } = await import("../restore/lost/restore-lost.js"); // slow to load
  const { stderr, env, view } = environment;
  const progress = emptyRestoreProgress();
  const watched = watchBetweenQuestions(view, () => renderRestore(progress));
  const { allowHttp, concurrency, maxRps } = job.service;
  const given = { ...args, apply: true, allowHttp, concurrency, maxRps: args.maxRps ?? maxRps };
  const { interval: _, ...restoreTimes } = times;
  return restoreLost({
    ...targetOptionsFrom(given, environment),
    ...restoreTimes,
    ...{
      folder: backup.folder,
      key,
      against: undefined,
      to: undefined,
      own: undefined,
      addManualEdits: false,
      plan: undefined,
      planOut: undefined,
    },
    documents: [],
    log: view.log,
    progress,
    confirm: (planned) =>
      watched.pause(() => {
        if (args.yes && !args.quiet) stderr.write(`${renderPlan(planned, pageFor(stderr, env))}\n\n`);
        return askToApply(planned, args.yes, environment);
      }),
  }).finally(watched.stop);
}
