import { setTimeout as delay } from "node:timers/promises";
import type { Arguments, Environment, Options, Positionals } from "../../cli/command.js";
import { durationFrom } from "../../cli/flag-values.js";
import { comparisonMemoryOption, itemsOf, outOption } from "../../cli/options.js";
import { wrongLine } from "../../cli/parse-command-line.js";
import type { Page } from "../../cli/text.js";
import type { Rendering, View } from "../../cli/view.js";
import { InterruptedError, type Problem, UsageError } from "../../errors.js";
import { exitCodeOf } from "../../restore/result.js";
import type { Invocation } from "../../shell-text.js";

export const positionals = {
  run: {
    type: "string",
    demandOption: true,
    names: "folder",
    describe: "run folder, or a job and a run, as in nightly@20261119",
  },
} as const satisfies Positionals;

/** The options that `restore` and `copy` share. */
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
  "allow-http": {
    type: "boolean",
    default: false,
    group: "Advanced",
    describe: "allow plain http to another host, which shows the key to the network",
  },
  "max-rps": { value: "N", group: "Advanced", describe: "maximum requests per second" },
  timeout: {
    default: "300",
    value: "TIME",
    group: "Advanced",
    describe: "time that one write may take, such as 300 or 5m; default: 300 seconds",
  },
  settle: {
    default: "60",
    value: "TIME",
    group: "Advanced",
    describe: "how long to look for a write whose answer was lost; default: 60 seconds",
  },
  "lock-time": {
    default: "600",
    value: "TIME",
    group: "Advanced",
    describe: "how long the service may lock a document while it adds chunks; default: 600 seconds",
  },
  ...comparisonMemoryOption,
} as const satisfies Options;

/** The arguments that both commands share. */
export type WriteArguments = Arguments<typeof positionals & typeof writeOptions> & { readonly concurrency?: unknown };

/** The times of a restore, in milliseconds. */
export interface Times {
  readonly timeout: number;
  readonly settle: number;
  readonly lockTime: number;
}

const timeBounds = { least: 1_000, most: 3_600_000, text: "from 1 s to 1 h" };
const settleBounds = { least: 0, most: 3_600_000, text: "from 0 s to 1 h" };

/** Checks the shared arguments, and `more`, before looking for a run. Throws UsageError with every problem. */
export async function checkArguments(
  args: WriteArguments & { readonly to?: string | undefined },
  environment: Environment,
  more: (checkIds: CheckIds) => readonly Problem[],
): Promise<Times> {
  const { checkIds, checkServiceFlags } = await import("../../job/check-job.js"); // slow to load; --help does not need it
  return timesFrom(args, [
    ...checkIds("--document", itemsOf(args.document)),
    ...more(checkIds),
    ...checkServiceFlags(args),
    ...(args.apply && !args.yes && environment.openTerminal === undefined
      ? [{ path: "--apply", message: noTerminal }]
      : []),
  ]);
}

/** Parses the times of a restore. Throws UsageError with the other problems and those of the times. */
export function timesFrom(
  args: Pick<WriteArguments, "timeout" | "settle" | "lockTime">,
  others: readonly Problem[],
): Times {
  const timeout = durationFrom("--timeout", args.timeout, timeBounds);
  const settle = durationFrom("--settle", args.settle, settleBounds);
  const lockTime = durationFrom("--lock-time", args.lockTime, settleBounds);
  const problems = [...others, ...[timeout, settle, lockTime].filter((time) => typeof time !== "number")];
  if (typeof timeout !== "number" || typeof settle !== "number" || typeof lockTime !== "number" || problems.length > 0)
    throw wrongLine(problems);
  return { timeout, settle, lockTime };
}

/** Checks the ids given for a flag. */
export type CheckIds = (flag: string, ids: readonly string[]) => readonly Problem[];

const noTerminal =
  "there is no terminal for the confirmation; look at the plan without --apply first, then add --yes to write it";

/** The options of both commands that do not depend on a folder. */
export function targetOptionsFrom(
  args: Omit<WriteArguments, "run">,
  { env, signal }: Pick<Environment, "env" | "signal">,
) {
  const { keyEnv, allowHttp, apply, memory, maxRps } = args;
  return {
    ...{ keyEnv, allowHttp, apply, memory, env, signal },
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

/** Reads the key of a restore. Throws UsageError if the variable is not set. */
export async function keyFrom(name: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (env[name] === undefined) {
    const why = "restore and copy need a separate key with write access";
    throw new UsageError(`no key: the variable ${name} is not set; ${why}. Set it: export ${name}=…`, []);
  }
  const { readKey } = await import("../../job/read-key.js");
  return readKey({ apiKeyEnv: name }, env);
}

/** The parts that the results of `restore` and `copy` share. */
interface EndedRestore {
  readonly status: string;
  readonly applied: object | null;
  readonly warnings: readonly string[];
}

interface EndOptions {
  readonly args: { readonly apply: boolean };
  readonly environment: Environment;
  /** The command line from which to build the next commands; default: the current one. */
  readonly next?: Invocation;
  /** The result for `--json`; default: `ended`. */
  readonly whole?: object;
}

/**
 * Prints the warnings and the result, and returns the exit code. Throws InterruptedError if the user refused to write the plan.
 */
export async function endRestore<Ended extends EndedRestore>(
  ended: Ended,
  render: (ended: Ended, page: Page, next: Invocation) => string,
  { args, environment, next = environment.invocation(), whole = ended }: EndOptions,
): Promise<number> {
  const { status, applied, warnings } = ended;
  for (const warning of warnings) environment.view.log("warn", warning);
  if (args.apply && status === "planned" && applied === null)
    throw new InterruptedError("SIGINT", "stopped, as you answered no: nothing of this plan was written");
  const achieved = applied === null ? undefined : "the restore is done";
  await environment.print(whole, (page) => render(ended, page, next), achieved);
  return exitCodeOf(ended);
}

/** Adds to the error of an interrupted restore or copy that it can be continued, if it had begun to write. */
export function withRerun(error: unknown, { step }: { readonly step: string }): unknown {
  if (!(error instanceof InterruptedError) || (step !== "writing" && step !== "proving")) return error;
  const message = `${error.message}; what was written is in the journal; run the same command to continue`;
  return new InterruptedError(error.exitCode === 130 ? "SIGINT" : "SIGTERM", message);
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
