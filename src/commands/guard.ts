import * as v from "valibot";
import { countText, rowsText } from "../amounts.js";
import { type Arguments, defineCommand, type Environment, type Options, type Surroundings } from "../cli/command.js";
import { checkJobIsNamed, durationOption } from "../cli/flag-values.js";
import { comparisonMemoryOption, itemsOf, jobFrom, jobOptions, jobPositional } from "../cli/options.js";
import { renderParagraphs } from "../cli/outline.js";
import { renderRun, renderWork } from "../cli/progress-text.js";
import type { Rendering } from "../cli/progress-view.js";
import { pageFor, terminalText } from "../cli/text.js";
import { InterruptedError, type Problem, StopError, UsageError } from "../errors.js";
import type { Job } from "../job/job.js";
import { emptyRunProgress } from "../job/run-progress.js";
import type { Guarded, ReindexProgress } from "../restore/guard.js";
import { type RestoreResult, restoreResult } from "../restore/lost/restore-options.js";
import { emptyWriteProgress } from "../restore/result.js";
import type { RunResult } from "../run/make-run.js";
import { result, text } from "../schema.js";
import type { Invocation } from "../shell-text.js";
import { planOutline, restoredOutline } from "./restore/plan.js";
import { askToApply } from "./restore/questions.js";
import { applyCommand } from "./restore/result-parts.js";
import { keyFrom, paceOptions, pause, settingsFrom, workAndPrint, writeOptions } from "./restore/shared.js";

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
    ...durationOption({ least: 100, most: 3_600_000, text: "from 0.1 s to 1 h" }),
    default: "5",
    describe: "time between two polls of the documents; default: 5 seconds",
  },
  ...paceOptions,
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
  check: problemsOf,
  run: guard,
});

async function problemsOf(args: GuardArguments): Promise<readonly Problem[]> {
  checkJobIsNamed("guard", args);
  const { checkIds } = await import("../job/check-job.js"); // slow to load; --help does not need it
  const documents = itemsOf(args.document);
  const none = { path: "--document", message: "name the documents to guard by their UUIDs, as kbdump plan lists them" };
  return documents.length === 0 ? [none] : checkIds("--document", documents);
}

/** Throws UsageError that names everything guard needs and lacks, because guard must not find that out after the re-index has begun. */
function requireAll(
  { yes, keyEnv }: GuardArguments,
  { apiKeyEnv, apiKeyFile, apiKeyCommand }: Job["service"],
  { env, openTerminal }: Surroundings,
): void {
  const noTerminal = "there is no terminal for questions: add --yes to write the lost rows without asking";
  const unset = (name: string, use: string) =>
    env[name]?.trim()
      ? []
      : [{ path: "", message: `the variable ${name} is not set; guard ${use}. Set it: export ${name}=…` }];
  const missing = [
    ...(yes || openTerminal !== undefined ? [] : [{ path: "--yes", message: noTerminal }]),
    ...(apiKeyFile === undefined && apiKeyCommand === undefined ? unset(apiKeyEnv, "reads with this key") : []),
    ...unset(keyEnv, "writes with this key, which needs write access"),
  ];
  if (missing.length > 0) throw new UsageError("guard cannot start:", missing);
}

async function guard(args: GuardArguments, environment: Environment): Promise<number> {
  const { env, signal, view } = environment;
  const { findChanged, prepareGuard } = await import("../restore/guard.js"); // slow to load; --help does not need it
  const asked = { env, signal, log: view.log };
  const document = args.job === undefined ? args.document : undefined; // the documents of a job file are chosen below
  const owners = await jobFrom({ ...args, document, maxRps: undefined }, environment);
  if (owners.service.demo) throw new UsageError(demoEnds, []);
  if (owners.output.bucket !== undefined) throw new UsageError(needsFolder, []);
  requireAll(args, owners.service, environment);
  const key = await keyFrom(args.keyEnv, env);
  const guarded = await prepareGuard(owners, itemsOf(args.document), args.keyEnv, asked);

  const { folder: backup, status, manifest } = await backUp(guarded.job, environment);
  const next = restoreInvocation(backup, args, environment);
  try {
    if (status !== "complete")
      throw new StopError(`the backup is not complete, so do not start the re-index: see ${terminalText(backup)}`);
    const changed = await findChanged(guarded, asked);
    if (changed)
      throw new StopError(
        `document ${changed.document_id} was indexed again before the backup was complete, so it may lack edits`,
      );
    view.log("info", `backed up: ${rowsText(manifest.counts)}; ${terminalText(backup)}`);
    await waitForIndexing(guarded, args.interval, environment);
    const after = await backUp(guarded.job, environment);
    if (after.status !== "complete") view.log("warn", `the backup after the re-index is not complete: ${after.folder}`);
    const result = (restored: RestoreResult) => ({ backup, after: after.folder, restore: restored });
    return await restore(guarded.job, { folder: backup, key }, { next, result }, args, environment);
  } catch (error) {
    throw withNext(error, next);
  }
}

async function waitForIndexing(guarded: Guarded, interval: number, { env, signal, view }: Environment): Promise<void> {
  const { waitForReindex } = await import("../restore/guard.js");
  const of = guarded.documents.length;
  const which = of === 1 ? "the document" : "the documents";
  view.log("info", `start the re-index now; do not edit ${which} until this command has ended`);
  const progress = { done: 0, begun: 0, of };
  const unwatch = view.watch(renderWait(progress));
  await waitForReindex(guarded, { interval, progress, signal, sleep: pause, env }).finally(unwatch);
  await pause(apart, signal).catch(() => signal.throwIfAborted());
}

const demoEnds =
  "guard needs a service that keeps running: that of service.demo ends with each run. Try kbdump serve --demo";

const needsFolder = "guard keeps its backups in a folder, and this job writes to a bucket: name a folder with --out";

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

function renderWait(progress: ReindexProgress): Rendering {
  return renderWork(() => {
    const { done, begun, of } = progress;
    const note = begun > 0 ? `${countText(begun, "document")} being indexed` : undefined;
    const counts = [{ noun: "document", done, of }];
    return { step: "waiting for the re-index", unit: "document", done, of, counts, note };
  }, true);
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
  if (error instanceof InterruptedError) return error.with(hint);
  return error instanceof StopError ? new StopError(`${error.message}; ${hint}`, { cause: error }) : error;
}

/** Restores from the backup, prints the result, and returns the exit code. */
async function restore(
  { service: { allowHttp, concurrency, maxRps } }: Job,
  backup: { readonly folder: string; readonly key: string },
  guard: { readonly next: Invocation; readonly result: (restored: RestoreResult) => object },
  args: GuardArguments,
  environment: Environment,
): Promise<number> {
  const { restoreLost } = await import("../restore/lost/restore-lost.js"); // slow to load
  const { stderr, env } = environment;
  const given = { ...args, apply: true, allowHttp, concurrency, maxRps: args.maxRps ?? maxRps, document: [] };
  const nothing = { against: undefined, own: undefined, to: undefined, plan: undefined, planOut: undefined };
  const wishes = { ...nothing, addManualEdits: false };
  const settings = { ...settingsFrom(given, environment), ...backup, ...wishes, progress: emptyWriteProgress() };
  const ask = async (planned: RestoreResult) => {
    if (args.yes && !args.quiet) stderr.write(`${renderParagraphs(planOutline(planned), pageFor(stderr, env))}\n\n`);
    return askToApply(planned, args.yes, environment);
  };
  return workAndPrint({ settings, execute: restoreLost, ask, outline: restoredOutline, guard }, environment);
}
