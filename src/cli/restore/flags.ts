import type { ArgumentsOf, Options, Positionals } from "../command.js";
import { commonOptions, dirOption, environmentOption, memoryOption } from "../options.js";

export const positionals = {
  run: {
    type: "string",
    demandOption: true,
    names: "folder",
    describe: "folder of the run to restore from, or a job and a run, as in nightly@20261119",
  },
} as const satisfies Positionals;

/** Flags of `--lost` alone. */
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
const moveOptions = {
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
      "with --to alone: chunks, word for word (default), or originals, the files that documents were made from; the service cuts these anew",
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
  ...moveOptions,
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
