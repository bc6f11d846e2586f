import { comparisonMemory, defaultMemory } from "../duckdb/open-duckdb.js";
import { fileFormats } from "../dump/formats/formats.js";
import type { Problem } from "../errors.js";
import type { Job } from "../job/job.js";
import type { JobFlags } from "../job/merge-flags.js";
import type { ReadProgress } from "../read-progress.js";
import type { FindOptions } from "../store/find-named.js";
import type { ArgumentsOf, Environment, Option, Options, Positionals } from "./command.js";
import type { Dialogue } from "./dialogue.js";
import { renderReading } from "./progress-text.js";

export const jobPositional = {
  job: { type: "string", names: "job file", describe: "job file, or the name of a job that has run" },
} as const satisfies Positionals;

export const runPositional = {
  run: {
    type: "string",
    demandOption: true,
    names: "folder",
    describe: "run folder, or a job (its newest complete run), or a job and a run, as in nightly@20261119",
  },
} as const satisfies Positionals;

export const outOption = {
  out: {
    type: "string",
    alias: "o",
    names: "folder",
    value: "DIR",
    describe: "output folder, or s3://bucket/prefix; overrides output.dir of the job file; default: output",
  },
} as const satisfies Options;

async function readMemory(given: string): Promise<string | Problem> {
  const { checkMemory } = await import("../job/check-job.js"); // slow to load; --help does not need it
  return checkMemory(given)[0] ?? given;
}

const memoryOf = <const Size extends string>(size: Size) =>
  ({
    memory: {
      type: "string",
      default: size,
      value: "SIZE",
      group: "Advanced",
      read: readMemory,
      describe: `memory that DuckDB may use, such as 2GB; default: ${size}`,
    },
  }) as const satisfies Options;

export const memoryOption = memoryOf(defaultMemory);
/** `--memory` for commands that compare runs. */
export const comparisonMemoryOption = memoryOf(comparisonMemory);

export const formatOption = {
  format: {
    type: "string",
    array: true,
    values: [...fileFormats, "duckdb"],
    value: "FORMATS",
    describe: `formats to write: ${fileFormats.join(", ")} or duckdb; several with commas, or repeat the flag`,
  },
} as const satisfies Options;

export const allowHttp = {
  type: "boolean",
  group: "Advanced",
  describe: "allow plain http to another host, which shows the key to the network",
} as const satisfies Option;

export const maxRps = {
  value: "N",
  group: "Advanced",
  describe: "maximum requests per second",
} as const satisfies Option;

/** Options for service, datasets and documents. */
export const jobOptions = {
  ...outOption,
  concurrency: { value: "N", describe: "maximum concurrent requests, 1 to 64; overrides service.concurrency" },
  batch: {
    type: "string",
    array: true,
    value: "IDS",
    describe:
      "batches whose indexing status to record, with commas or repeated; replaces those of a job file with one dataset",
  },
  "base-url": {
    type: "string",
    value: "URL",
    group: "Without a job file",
    describe: "the service, such as https://kb.example.com/v1",
  },
  dataset: { type: "string", value: "UUID", group: "Without a job file", describe: "the dataset, or all" },
  document: {
    type: "string",
    array: true,
    value: "UUIDS",
    group: "Without a job file",
    describe: "documents, with commas or repeated; or all",
  },
  name: {
    type: "string",
    value: "NAME",
    group: "Without a job file",
    describe: "name of the job; default: the UUID of the dataset",
  },
  "allow-http": allowHttp,
} as const satisfies Options;

/** Options for what a run reads and writes, and how. */
export const runOptions = {
  ...jobOptions,
  ...formatOption,
  "max-rps": { ...maxRps, describe: `${maxRps.describe}; overrides service.max_rps` },
  "child-chunks": {
    type: "string",
    values: ["all", "auto", "none"],
    value: "all|auto|none",
    group: "Advanced",
    describe: "child lists to read; auto: as few as the evidence allows",
  },
  consistency: {
    type: "string",
    values: ["anchored", "sweeps", "counts"],
    value: "anchored|sweeps|counts",
    group: "Advanced",
    describe:
      "how to prove that lists are complete: anchored reads their pages once, sweeps twice; counts may lose rows",
  },
} as const satisfies Options;

type JobArguments = Partial<
  ArgumentsOf<typeof jobPositional & typeof runOptions> & Readonly<Record<"csvSafe" | "keepSignatures", unknown>>
>;

/** The arguments that override the job file. */
const flagNames = [
  ...(["baseUrl", "dataset", "document", "batch", "name", "out", "concurrency", "allowHttp"] as const),
  ...(["format", "maxRps", "childChunks", "consistency", "csvSafe", "keepSignatures"] as const),
];

/**
 * The job of a command line: from its file, or recorded by its newest run, with the flags applied; or from flags only. Throws
 * UsageError with every problem. Only a command that `notifies` needs the variables of `notify`.
 */
export async function jobFrom(
  args: JobArguments,
  environment: Environment,
  { notifies = false }: { readonly notifies?: boolean } = {},
): Promise<Job> {
  const { job } = args;
  const given = flagNames.map((name) => [name, args[name]] as const).filter(([, value]) => value !== undefined);
  const flags: JobFlags = Object.fromEntries(given);
  if (job === undefined || /\.(ya?ml|json)$/i.test(job)) {
    const { loadJob } = await import("../job/load-job.js");
    return loadJob(job === undefined ? { none: true } : { file: job }, flags, environment.env, { notifies });
  }
  const { findJob } = await import("./find-job.js");
  return findJob(job, flags, findOptionsFrom(args, environment), { notifies });
}

/** Opens the terminal for questions; undefined without one. `cancelled` is shown when the user cancels. */
export async function dialogueFrom(
  { openTerminal, signal }: Environment,
  cancelled: string,
): Promise<Dialogue | undefined> {
  const terminal = openTerminal?.();
  if (terminal === undefined) return undefined;
  const { openDialogue } = await import("./dialogue.js"); // slow to load; most commands ask nothing
  return openDialogue(terminal, signal, cancelled);
}

/** The folder in which a command looks up names, and the view that shows the progress of downloads from buckets. */
export function findOptionsFrom(
  { out }: { readonly out?: string | undefined },
  { env, signal, copies, view }: Environment,
): FindOptions {
  const watch = (progress: ReadProgress) => view.watch(renderReading(progress));
  return { out, env, signal, copies, log: view.log, watch };
}

/**
 * The values of a flag that takes a list, each once: `--document a,b` equals `--document a --document b`. UUIDs become lower case;
 * other texts stay as typed, because an error quotes them.
 */
export function itemsOf(given: readonly string[] | undefined): readonly string[] {
  const items = (given ?? []).flatMap((texts) => texts.split(",").map((text) => text.trim()));
  return [...new Set(items.map((item) => (/^[0-9a-f-]{36}$/i.test(item) ? item.toLowerCase() : item)))];
}
