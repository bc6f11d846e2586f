import { setTimeout as delay } from "node:timers/promises";
import type { Problem } from "../errors.js";
import type { RestoreOptions } from "../restore/restore-options.js";
import type { ArgumentsOf, Options, Positionals } from "./command.js";
import { durationFrom } from "./duration.js";
import { wrongLine } from "./line/wrong-line.js";
import { commonOptions, dirOption, environmentOption, memoryOption } from "./options.js";
import type { World } from "./world.js";

export const positionals = {
  run: {
    type: "string",
    demandOption: true,
    names: "folder",
    describe: "folder of the older run, which has the lost rows, or a job and a run, as in nightly@20261119",
  },
} as const satisfies Positionals;

export const options = {
  ...commonOptions,
  lost: { type: "boolean", default: false, describe: "bring back what a re-index took from the documents of the run" },
  against: {
    type: "string",
    names: "folder",
    describe: "a newer run to plan against; without --apply, nothing is asked of the service",
  },
  document: {
    type: "string",
    array: true,
    describe: "documents to restore, by their UUIDs, with commas or repeated; default: all with a sign of a hand",
  },
  chunk: {
    type: "string",
    array: true,
    describe:
      "chunks or child chunks of the older run to restore, too, although the evidence is missing; with commas or repeated",
  },
  "add-disabled": {
    type: "boolean",
    default: false,
    describe: "add chunks that were added by hand and then disabled, too; they are disabled again",
  },
  apply: { type: "boolean", default: false, describe: "write the plan to the service, after you confirmed it" },
  yes: { type: "boolean", default: false, describe: "with --apply: ask nothing; needed where there is no terminal" },
  to: { type: "string", describe: "base URL of the service to restore to; default: the one that the run came from" },
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
  concurrency: { describe: "maximum concurrent requests, 1 to 64, while documents are read; default: 8" },
  "max-rps": { describe: "maximum requests per second" },
  timeout: { default: "300", describe: "time that one write may take, such as 300 or 5m; default: 300 seconds" },
  settle: {
    default: "60",
    describe: "time in which a write may still show up whose answer was lost; default: 60 seconds",
  },
  "ca-file": { type: "string", names: "file", describe: "PEM file of the authority that signed the certificate" },
  ...dirOption,
  ...memoryOption,
  ...environmentOption,
} as const satisfies Options;

export type RestoreArguments = ArgumentsOf<typeof positionals & typeof options>;

export type Times = Pick<RestoreOptions, "timeout" | "settle">;

const timeBounds = { least: 1_000, most: 3_600_000, text: "from 1 s to 1 h" };
const settleBounds = { least: 0, most: 3_600_000, text: "from 0 s to 1 h" };

/** Checks everything that can be checked before a run is looked for; UsageError with every problem. */
export async function checkArguments(args: RestoreArguments, world: World): Promise<Times> {
  const { checkIds, checkServiceFlags } = await import("../job/check-flags.js"); // heavy; --help does without
  const timeout = durationFrom("--timeout", args.timeout, timeBounds);
  const settle = durationFrom("--settle", args.settle, settleBounds);
  const problems: readonly Problem[] = [
    ...(args.lost ? [] : [{ path: "--lost", message: "missing; it says to bring back what a re-index took" }]),
    ...checkIds("--document", itemsOf(args.document)),
    ...checkIds("--chunk", itemsOf(args.chunk)),
    ...checkServiceFlags(args),
    ...[timeout, settle].filter((time) => typeof time !== "number"),
    ...(args.apply && !args.yes && world.openTerminal === undefined ? [{ path: "--apply", message: noTerminal }] : []),
  ];
  if (problems.length > 0 || typeof timeout !== "number" || typeof settle !== "number") throw wrongLine(problems);
  return { timeout, settle };
}

const noTerminal =
  "there is no terminal to confirm at; look at the plan without --apply first, then add --yes to write it";

type Setting = Omit<RestoreOptions, "folder" | "against" | "key" | "own" | "log" | "tally" | "confirm" | keyof Times>;

/** The settings that need no look at a folder. */
export function settingFrom(args: RestoreArguments, { env, signal }: World): Setting {
  const { to, keyEnv, allowHttp, addDisabled, apply, memory, caFile, concurrency, maxRps } = args;
  const numberOf = (text: unknown) => (text === undefined ? undefined : Number(text));
  return {
    ...{ to, keyEnv, allowHttp, addDisabled, apply, memory, caFile, env, signal },
    documents: itemsOf(args.document),
    chunks: itemsOf(args.chunk),
    concurrency: numberOf(concurrency),
    maxRps: numberOf(maxRps),
    now: () => new Date(),
    sleep: (milliseconds, ending) => delay(milliseconds, undefined, { signal: ending }),
  };
}

/** Different ids in lower case: `--chunk a,b` and `--chunk a --chunk b` are the same. */
function itemsOf(given: readonly string[] | undefined): readonly string[] {
  const items = (given ?? []).flatMap((texts) => texts.split(",").map((text) => text.trim().toLowerCase()));
  return [...new Set(items)];
}
