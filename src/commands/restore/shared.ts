import { setTimeout as delay } from "node:timers/promises";
import type { ArgumentsOf, Environment, Options, Positionals } from "../../cli/command.js";
import { durationFrom } from "../../cli/flag-values.js";
import { commonOptions, dirOption, environmentOption, itemsOf, memoryOption } from "../../cli/options.js";
import { printResult } from "../../cli/output.js";
import { wrongLine } from "../../cli/read-line.js";
import type { Rendering, View } from "../../cli/view.js";
import { InterruptedError, type Problem, UsageError } from "../../errors.js";
import type { Log } from "../../log.js";

export const positionals = {
  run: {
    type: "string",
    demandOption: true,
    names: "folder",
    describe: "folder of the run to restore from, or a job and a run, as in nightly@20261119",
  },
} as const satisfies Positionals;

/** Flags of `--lost` only. */
const lostOptions = {
  lost: { type: "boolean", default: false, describe: "bring back what a re-index took from the documents of the run" },
  against: {
    type: "string",
    names: "folder",
    describe: "with --lost: a newer run to plan against; without --apply, nothing is asked of the service",
  },
  chunk: {
    type: "string",
    array: true,
    describe:
      "with --lost: chunks or child chunks of the older run to restore, too, although the evidence is missing; with commas or repeated",
  },
  "add-disabled": {
    type: "boolean",
    default: false,
    describe: "with --lost: add chunks that were added by hand and then disabled, too; they are disabled again",
  },
} as const satisfies Options;

/** Flags of `--to` without `--lost`. */
const copyOptions = {
  dataset: {
    type: "string",
    values: ["new"],
    describe:
      "with --to alone: UUID of an empty dataset that takes the documents, or new for another copy; default: a new one, or that of an earlier restore",
  },
  from: {
    type: "string",
    choices: ["chunks", "originals"],
    describe:
      "with --to alone: chunks, word for word (default), or originals, the files that documents were made from; the service cuts these again",
  },
  "retry-failed": {
    type: "boolean",
    default: false,
    describe: "with --to alone: try documents again that failed in an earlier restore",
  },
} as const satisfies Options;

export const options = {
  ...commonOptions,
  ...lostOptions,
  to: {
    type: "string",
    describe:
      "base URL of the service to restore to; alone, it takes whole documents; with --lost, the default is the one that the run came from",
  },
  ...copyOptions,
  document: {
    type: "string",
    array: true,
    describe:
      "documents to restore, by their UUIDs, with commas or repeated; default: all; of --lost, those with a sign of a hand",
  },
  apply: { type: "boolean", default: false, describe: "write the plan to the service, after you confirmed it" },
  yes: { type: "boolean", default: false, describe: "with --apply: ask nothing; needed where there is no terminal" },
  "key-env": {
    type: "string",
    default: "KNOWLEDGE_RESTORE_KEY",
    describe: "environment variable with the key; default: KNOWLEDGE_RESTORE_KEY",
  },
  "allow-http": {
    type: "boolean",
    default: false,
    describe: "allow plain http to another host, which shows the key to the network",
  },
  concurrency: {
    describe:
      "maximum concurrent requests, 1 to 64; default: 8 with --lost; 4 without, where as many documents are written at once",
  },
  "max-rps": { describe: "maximum requests per second" },
  timeout: { default: "300", describe: "time that one write may take, such as 300 or 5m; default: 300 seconds" },
  settle: {
    default: "60",
    describe: "how long to look for a write whose answer was lost; default: 60 seconds",
  },
  "lock-time": {
    default: "600",
    describe: "how long the service may lock a document while it adds chunks; default: 600 seconds",
  },
  "ca-file": { type: "string", names: "file", describe: "PEM file of the authority that signed the certificate" },
  ...dirOption,
  ...memoryOption,
  ...environmentOption,
} as const satisfies Options;

export type RestoreArguments = ArgumentsOf<typeof positionals & typeof options>;

/** The times of a restore, in milliseconds. */
export interface Times {
  readonly timeout: number;
  readonly settle: number;
  readonly lockTime: number;
}

const timeBounds = { least: 1_000, most: 3_600_000, text: "from 1 s to 1 h" };
const settleBounds = { least: 0, most: 3_600_000, text: "from 0 s to 1 h" };

/** Checks everything that can be checked before a run is looked for; UsageError with every problem. */
export async function checkArguments(args: RestoreArguments, environment: Environment): Promise<Times> {
  const { checkIds, checkServiceFlags } = await import("../../job/check-job.js"); // heavy; --help does without
  const timeout = durationFrom("--timeout", args.timeout, timeBounds);
  const settle = durationFrom("--settle", args.settle, settleBounds);
  const lockTime = durationFrom("--lock-time", args.lockTime, settleBounds);
  const problems: readonly Problem[] = [
    ...checkKind(args),
    ...checkIds("--document", itemsOf(args.document)),
    ...checkIds("--chunk", itemsOf(args.chunk)),
    ...checkDataset(args.dataset, checkIds),
    ...checkServiceFlags(args),
    ...[timeout, settle, lockTime].filter((time) => typeof time !== "number"),
    ...(args.apply && !args.yes && environment.openTerminal === undefined
      ? [{ path: "--apply", message: noTerminal }]
      : []),
  ];
  if (typeof timeout !== "number" || typeof settle !== "number" || typeof lockTime !== "number" || problems.length > 0)
    throw wrongLine(problems);
  return { timeout, settle, lockTime };
}

const noTerminal =
  "there is no terminal to confirm at; look at the plan without --apply first, then add --yes to write it";

/** A restore is of one kind: `--lost`, or `--to` without it. Flags of the other kind are no use. */
function checkKind(args: RestoreArguments): readonly Problem[] {
  const { lost, to, against, chunk, addDisabled, dataset, from, retryFailed } = args;
  if (lost)
    return given({ "--dataset": dataset, "--from": from, "--retry-failed": retryFailed }).map((path) => ({
      path,
      message: "not together with --lost; it belongs to --to alone",
    }));
  if (to === undefined) return [{ path: "--lost or --to", message: noKind }];
  return given({ "--against": against, "--chunk": chunk, "--add-disabled": addDisabled }).map((path) => ({
    path,
    message: "only together with --lost",
  }));
}

const noKind =
  "missing; --lost brings back what a re-index took, --to brings whole documents to the service with this base URL";

/** A dataset is named by its id, or is `new`. */
function checkDataset(
  dataset: string | undefined,
  checkIds: (flag: string, ids: readonly string[]) => readonly Problem[],
): readonly Problem[] {
  if (dataset === undefined || dataset === "new") return [];
  return checkIds("--dataset", [dataset]).map(({ path, message }) => ({ path, message: `${message}; or new` }));
}

function given(flags: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined || value === false ? [] : [flag]));
}

/** The settings that every restore has, and that need no look at a folder. */
export function settingsFrom(args: RestoreArguments, { env, signal }: Pick<Environment, "env" | "signal">) {
  const { keyEnv, allowHttp, apply, memory, caFile, maxRps } = args;
  return {
    ...{ keyEnv, allowHttp, apply, memory, caFile, env, signal },
    documents: itemsOf(args.document),
    concurrency: numberFrom(args.concurrency),
    maxRps: numberFrom(maxRps),
    now: () => new Date(),
    sleep: (milliseconds: number, ending: AbortSignal) => delay(milliseconds, undefined, { signal: ending }),
  };
}

function numberFrom(text: unknown): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** The key of a restore. UsageError where the variable has none. */
export async function keyFrom(name: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (env[name] === undefined) {
    const why = "restore has a key of its own, which may write, as the key of a job is for reading only";
    throw new UsageError(`no key: the variable ${name} is not set; ${why}. Set it: export ${name}=…`, []);
  }
  const { readKey } = await import("../../job/read-key.js");
  return readKey({ apiKeyEnv: name }, env);
}

/** The parts of a result that every restore has. */
interface EndedRestore {
  readonly status: string;
  readonly applied: object | null;
  readonly warnings: readonly string[];
}

/** Warns, and prints the result. InterruptedError where a plan was to be written, and the user said no. */
export async function endRestore(
  { status, applied, warnings }: EndedRestore,
  apply: boolean,
  log: Log,
  environment: Environment,
  render: () => string,
): Promise<void> {
  for (const warning of warnings) log("warn", warning);
  if (apply && status === "planned" && applied === null)
    throw new InterruptedError("SIGINT", "stopped, as you answered no: nothing of this plan was written");
  await printResult(environment, render(), applied === null ? undefined : "the restore is done");
}

/** Shows the progress, but not while a question is on the terminal. */
export function watchBetweenQuestions(view: View, render: () => Rendering) {
  const watch = () => view.watch(render());
  let unwatch = watch();
  return {
    stop: () => unwatch(),
    pause: async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
      unwatch();
      return ask().finally(() => {
        unwatch = watch();
      });
    },
  };
}
