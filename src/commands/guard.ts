import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { countText } from "../amounts.js";
import { type Arguments, defineCommand, type Environment, type Options } from "../cli/command.js";
import { checkJobIsNamed, durationFrom } from "../cli/flag-values.js";
import { itemsOf, jobFrom, jobOptions, jobPositional, memoryOption, viewFrom } from "../cli/options.js";
import { renderRun, renderWork } from "../cli/progress.js";
import { jsonLine, pageFor, terminalText } from "../cli/text.js";
import type { Rendering, View } from "../cli/view.js";
import { InterruptedError, StopError, UsageError } from "../errors.js";
import type { Job } from "../job/job.js";
import { emptyRunProgress } from "../job/run-progress.js";
import type { ReindexProgress } from "../restore/guard.js";
import { emptyRestoreProgress, exitCodeOf, type RestoreResult, restoreResult } from "../restore/restore-options.js";
import type { RunResult } from "../run/make-run.js";
import { result, text } from "../schema.js";
import type { Invocation } from "../shell-text.js";
import { applyCommand } from "./restore/plan.js";
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

guard backs up the documents now, waits until you have indexed them again, backs them up once more, shows what was lost, and brings it back after you said yes. It writes nothing before that. The backups are runs of a job of their own, such as nightly-guard. Reading takes the key of the job, writing the one of --key-env.

Exit codes: 0 nothing was lost, or all is back and proved · 1 failed · 2 wrong usage or job file, no key, or no such document · 3 some rows need your decision, or could not be restored · 4 the proof found a difference · 5 another guard or restore is at work · 130, 143 interrupted, or answered with no; the backups stay`;

const { batch: _, ...guardedJob } = jobOptions;

const options = {
  ...guardedJob,
  document: { ...jobOptions.document, group: "Options", describe: "documents to guard, with commas or repeated" },
  yes: { type: "boolean", default: false, describe: "restore without a question; needed where there is no terminal" },
  "key-env": writeOptions["key-env"],
  interval: {
    type: "string",
    default: "5",
    value: "TIME",
    describe: "time between two looks at the documents; default: 5 seconds",
  },
  "max-rps": writeOptions["max-rps"],
  timeout: writeOptions.timeout,
  settle: writeOptions.settle,
  "lock-time": writeOptions["lock-time"],
  ...memoryOption,
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
    return guard(args, checkedTimes(args, environment), environment);
  },
});

const intervalBounds = { least: 100, most: 3_600_000, text: "from 0.1 s to 1 h" };

/** Parses the times of the command line, in milliseconds. Throws UsageError with every problem. */
function checkedTimes(args: GuardArguments, { openTerminal }: Environment): Times & { readonly interval: number } {
  const interval = durationFrom("--interval", args.interval, intervalBounds);
  const problems = [
    ...(itemsOf(args.document).length === 0 ? [{ path: "--document", message: "name the documents to guard" }] : []),
    ...(typeof interval === "number" ? [] : [interval]),
    ...(args.yes || openTerminal !== undefined ? [] : [{ path: "--yes", message: noTerminal }]),
  ];
  return { ...timesFrom(args, problems), interval: Number(interval) };
}

const noTerminal =
  "there is no terminal to ask at before the lost rows are written: add --yes to write them without a question";

async function guard(
  args: GuardArguments,
  { interval, ...times }: ReturnType<typeof checkedTimes>,
  environment: Environment,
): Promise<number> {
  const { env, signal } = environment;
  const key = await keyFrom(args.keyEnv, env); // before a re-index starts
  const view = viewFrom(args, environment);
  const { guardJob, isResting, readGuarded, waitForReindex } = await import("../restore/guard.js"); // slow to load; --help does not need it
  const asked = { env, signal, log: view.log };
  const owners = await jobFrom(
    { ...args, document: args.job === undefined ? args.document : undefined },
    {},
    environment,
  );
  if (owners.service.demo) throw new UsageError(demoEnds, []);
  const job = await guardJob(owners, itemsOf(args.document), asked);
  const documents = await readGuarded(job, asked);
  const busy = documents.find(({ before }) => !isResting(before));
  if (busy) throw new StopError(`document ${busy.document_id} is being indexed already; wait until that is over`);

  const backup = await backUp(job, view, environment);
  if (backup.status !== "complete")
    throw new StopError(`the backup is not complete, so do not start the re-index: see ${terminalText(backup.folder)}`);
  const next = restoreInvocation(backup.folder, environment);
  view.log("info", `backed up: ${countsText(backup)}; ${terminalText(backup.folder)}`);
  view.log(
    "info",
    `start the re-index now, and do not edit ${documents.length === 1 ? "the document" : "the documents"} before that`,
  );
  const progress = { done: 0, begun: 0, of: documents.length };
  const unwatch = view.watch(renderWait(progress));
  const waiting = { interval, progress, signal, sleep: pause };
  const after = await waitForReindex(job, documents, waiting, asked)
    .finally(unwatch)
    .then(() => backUp(job, view, environment))
    .catch((error: unknown) => {
      throw withNext(error, next);
    });

  const restored = await restoreFrom(backup.folder, { args, times, key, job, view }, environment);
  const result = { backup: backup.folder, after: after.folder, restore: restored };
  await endRestore(restored, true, view.log, environment, () =>
    args.json ? jsonLine(result) : renderRestored(restored, pageFor(environment.stdout, env), next),
  );
  return exitCodeOf(restored);
}

const demoEnds =
  "guard needs a service that goes on: the one of service.demo ends with each run. Try kbdump serve --demo";

/** Runs the job once for a backup. */
async function backUp(job: Job, view: View, { env, signal }: Environment): Promise<RunResult> {
  const { runJob } = await import("../run/run-job.js"); // slow to load
  const progress = emptyRunProgress();
  const unwatch = view.watch(renderRun(progress));
  return runJob(job, { env, signal, progress, log: view.log }).finally(unwatch);
}

function countsText({ manifest: { counts } }: RunResult): string {
  const { documents, chunks, child_chunks } = counts;
  return `${countText(documents, "document")}, ${countText(chunks, "chunk")}, ${countText(child_chunks, "child chunk")}`;
}

function renderWait(progress: ReindexProgress): Rendering {
  return renderWork(() => {
    const { done, begun, of } = progress;
    const note = begun > 0 ? `${countText(begun, "document")} being indexed` : undefined;
    return {
      step: "waiting for the re-index",
      unit: "document",
      done,
      of,
      counts: [{ noun: "document", done, of }],
      note,
    };
  });
}

function pause(milliseconds: number, ending: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal: ending });
}

/** The command that continues from a backup. */
function restoreInvocation(folder: string, environment: Environment): Invocation {
  return { program: environment.program(), args: ["restore", folder] };
}

/** Adds to an error that ends the wait that the backup stays and can be restored from later. */
function withNext(error: unknown, next: Invocation): unknown {
  const hint = `the backup stays; once the re-index is over: ${applyCommand(next)}`;
  if (error instanceof InterruptedError)
    return new InterruptedError(error.exitCode === 130 ? "SIGINT" : "SIGTERM", `${error.message}; ${hint}`);
  return error instanceof StopError ? new StopError(`${error.message}; ${hint}`, { cause: error }) : error;
}

interface Restoring {
  readonly args: GuardArguments;
  readonly times: Times;
  readonly key: string;
  readonly job: Job;
  readonly view: View;
}

/** After a yes, restores what the re-index lost. */
async function restoreFrom(
  folder: string,
  { args, times, key, job, view }: Restoring,
  environment: Environment,
): Promise<RestoreResult> {
  const { restoreLost } = await import("../restore/restore-lost.js"); // slow to load
  const progress = emptyRestoreProgress();
  const watched = watchBetweenQuestions(view, () => renderRestore(progress));
  const { allowHttp, concurrency, maxRps } = job.service;
  const given = { ...args, apply: true, allowHttp, concurrency, maxRps: args.maxRps ?? maxRps };
  return restoreLost({
    ...targetOptionsFrom(given, environment),
    ...times,
    ...{ folder, key, against: undefined, to: undefined, own: undefined, chunks: [], addDisabled: false },
    documents: [],
    log: view.log,
    progress,
    confirm: (planned) => watched.pause(() => askToApply(planned, args.yes, environment)),
  }).finally(watched.stop);
}
