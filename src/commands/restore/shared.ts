import { setTimeout as delay } from "node:timers/promises";
import { withFolderName } from "../../cli/bucket-names.js";
import type { Arguments, Environment, Option, Options, Surroundings } from "../../cli/command.js";
import { durationOption } from "../../cli/flag-values.js";
import {
  allowHttp,
  comparisonMemoryOption,
  itemsOf,
  maxRps,
  outOption,
  type runPositional,
} from "../../cli/options.js";
import { type Paragraphs, renderParagraphs } from "../../cli/outline.js";
import { progressOfRun, renderWork, within } from "../../cli/progress-text.js";
import type { Rendering, View } from "../../cli/progress-view.js";
import type { Count } from "../../cli/time-left.js";
import { InterruptedError, type Problem, UsageError } from "../../errors.js";
import type { CopyResult } from "../../restore/copy/copy-result.js";
import type { Confirmed, RestoreResult } from "../../restore/lost/restore-options.js";
import { exitCodeOf, type WriteProgress } from "../../restore/result.js";
import type { Invocation } from "../../shell-text.js";

const lookOption = {
  ...durationOption({ least: 0, most: 3_600_000, text: "from 0 s to 1 h" }),
  group: "Advanced",
} as const satisfies Partial<Option>;

/** The options of everything that writes to a service. */
export const paceOptions = {
  "max-rps": maxRps,
  timeout: {
    ...durationOption({ least: 1_000, most: 3_600_000, text: "from 1 s to 1 h" }),
    default: "300",
    group: "Advanced",
    describe: "time that one write may take, such as 300 or 5m; default: 300 seconds",
  },
  settle: {
    ...lookOption,
    default: "60",
    describe: "how long to look for a write whose answer was lost; default: 60 seconds",
  },
  "lock-time": {
    ...lookOption,
    default: "600",
    describe: "how long the service may lock a document while it adds chunks; default: 600 seconds",
  },
  ...comparisonMemoryOption,
} as const satisfies Options;

export const writeOptions = {
  document: {
    type: "string",
    array: true,
    value: "UUIDS",
    describe: "only these documents, with commas or repeated",
  },
  apply: { type: "boolean", default: false, describe: "write the plan to the service, after you confirmed it" },
  yes: { type: "boolean", default: false, describe: "with --apply: do not ask; needed without a terminal" },
  "key-env": {
    type: "string",
    default: "KNOWLEDGE_RESTORE_KEY",
    value: "NAME",
    describe: "environment variable with the key; default: KNOWLEDGE_RESTORE_KEY",
  },
  ...outOption,
  "allow-http": { ...allowHttp, default: false },
  ...paceOptions,
  concurrency: { value: "N", group: "Advanced", describe: "maximum concurrent requests, 1 to 64; default: 8" },
} as const satisfies Options;

type WriteArguments = Arguments<typeof runPositional & typeof writeOptions> & {
  readonly to?: string | undefined;
};

export async function problemsOf(args: WriteArguments, { openTerminal }: Surroundings): Promise<readonly Problem[]> {
  const { checkIds, checkServiceFlags } = await import("../../job/check-job.js"); // slow to load; --help does not need it
  const noTerminal =
    "there is no terminal for the confirmation; look at the plan without --apply first, then add --yes to write it";
  return [
    ...checkIds("--document", itemsOf(args.document)),
    ...checkServiceFlags(args),
    ...(args.apply && !args.yes && openTerminal === undefined ? [{ path: "--apply", message: noTerminal }] : []),
  ];
}

/** The settings of both commands that do not depend on a folder. */
export function settingsFrom(args: Omit<WriteArguments, "run">, { env, signal, view }: Environment) {
  const { keyEnv, allowHttp, apply, memory, timeout, settle, lockTime } = args;
  return {
    ...{ keyEnv, allowHttp, apply, memory, timeout, settle, lockTime, env, signal, log: view.log },
    documents: itemsOf(args.document),
    concurrency: numberFrom(args.concurrency),
    maxRps: numberFrom(args.maxRps),
    now: () => new Date(),
    sleep: pause,
  };
}

export function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal });
}

function numberFrom(text: unknown): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** Reads the key of a restore. Throws UsageError if the variable is not set. */
export async function keyFrom(name: string, env: NodeJS.ProcessEnv): Promise<string> {
  const why = "restore and copy need a separate key with write access";
  if (env[name] === undefined)
    throw new UsageError(`no key: the variable ${name} is not set; ${why}. Set it: export ${name}=…`, []);
  const { readKey } = await import("../../job/read-key.js");
  return readKey({ apiKeyEnv: name }, env);
}

type Confirm<Result> = (planned: Result) => Promise<Confirmed>;

/** A restore or a copy that a command executes. */
interface Work<Settings, Result> {
  readonly settings: Settings;
  /** Restores or copies. Calls `confirm` before the first write. */
  readonly execute: (options: Settings & { readonly confirm: Confirm<Result> }) => Promise<Result>;
  readonly ask: Confirm<Result>;
  readonly outline: (ended: Result, next: Invocation) => Paragraphs;
  /** For guard, which adds its own hints to errors. `next`: the command that continues. `result`: adds guard's members to the result. */
  readonly guard?: { readonly next: Invocation; readonly result: (ended: Result) => object };
}

interface WorkSettings {
  readonly progress: WriteProgress;
  readonly apply: boolean;
}

/**
 * Executes a restore or a copy, prints its result, and returns the exit code. The result has the folders of runs under the names that
 * users know. Throws InterruptedError if the user refused the plan.
 */
export async function workAndPrint<Settings extends WorkSettings, Result extends RestoreResult | CopyResult>(
  work: Work<Settings, Result>,
  { names, print, view, invocation }: Environment,
): Promise<number> {
  const { settings, outline, guard = { next: invocation(), result: (ended) => ended } } = work;
  const ended = await watchWork(work, view).catch((error: unknown) => {
    const isWriting = ["writing", "proving"].includes(settings.progress.step);
    if (work.guard || !(error instanceof InterruptedError) || !isWriting) throw error;
    throw error.with("what was written is in the journal; run the same command to continue");
  });
  const { status, applied, warnings, run } = ended;
  for (const warning of warnings) view.log("warn", warning);
  if (settings.apply && status === "planned" && applied === null)
    throw new InterruptedError("SIGINT", "stopped, as you answered no: nothing of this plan was written");
  const against = "against" in ended && ended.against !== null ? { against: names(ended.against) } : {};
  const named = { ...ended, run: withFolderName(run, names), ...against };
  const achieved = applied === null ? undefined : "the restore is done";
  await print(guard.result(named), (page) => renderParagraphs(outline(named, guard.next), page), achieved);
  return exitCodeOf(ended);
}

/** Shows the progress, but not while a question is on the terminal. */
function watchWork<Settings extends WorkSettings, Result>(
  { settings, execute, ask }: Work<Settings, Result>,
  view: View,
): Promise<Result> {
  const watch = () => view.watch(renderWrites(settings.progress));
  let unwatch = watch();
  const confirm = (planned: Result) => {
    unwatch();
    return ask(planned).finally(() => {
      unwatch = watch();
    });
  };
  return execute({ ...settings, confirm }).finally(() => unwatch());
}

/** Renders the progress in chunks and child chunks, or in documents if a copy has no chunks to write. */
export function renderWrites(progress: WriteProgress): Rendering {
  return renderWork(() => {
    const { step, dump, chunks, chunksDone, waiting, children, childrenDone } = progress;
    const { documents, documentsDone, documentsFailed, writes } = progress;
    if (dump !== undefined) return within(step, progressOfRun(dump));
    if (step !== "writing") return { step, unit: "chunk", done: 0, of: undefined };
    const all: readonly Count[] = [
      { noun: "failed document", done: documentsFailed },
      { noun: "document", done: documentsDone, of: documents },
      { noun: "chunk", done: chunksDone, of: chunks },
      { noun: "child chunk", done: childrenDone, of: children },
      { noun: "request", done: writes },
    ];
    const counts = all.filter(({ done, of = done }) => of > 0);
    const note = waiting > 0 ? `${waiting} wait until the service has indexed them` : undefined;
    const [done, of] = [chunksDone + childrenDone, chunks + children];
    if (of > 0) return { step, unit: children > 0 ? "row" : "chunk", done, of, counts, note };
    return { step, unit: "document", done: documentsDone, of: documents > 0 ? documents : undefined, counts, note };
  });
}
