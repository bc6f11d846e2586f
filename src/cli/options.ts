import { fileFormats } from "../dump/formats/formats.js";
import type { Job } from "../job/job.js";
import type { JobSource } from "../job/load-job.js";
import type { JobFlags } from "../job/merge-flags.js";
import type { ReadProgress } from "../read-progress.js";
import { bucketNames } from "../store/copy/bucket-names.js";

import type { FindOptions } from "../store/find-named.js";
import type { ArgumentsOf, Environment, Options, Positionals } from "./command.js";
import { renderReading } from "./progress.js";
import { openView, type View } from "./view.js";

/** Options of every command. */
export const commonOptions = {
  json: { type: "boolean", default: false, describe: "print the result as one JSON object, the last line of stdout" },
  quiet: {
    type: "boolean",
    default: false,
    alias: "q",
    describe: "print nothing to stderr but errors: no progress, no warnings",
  },
  "log-format": {
    choices: ["text", "json"],
    default: "text",
    describe: "format of progress and warnings on stderr: text (default) or json",
  },
} as const satisfies Options;

/** The option of every command that reads the environment. */
export const environmentOption = {
  "env-file": {
    type: "string",
    array: true,
    names: "file",
    describe: "file of NAME=value lines to add to the environment; variables already set win; repeatable",
  },
} as const satisfies Options;

export const jobPositional = {
  job: { type: "string", names: "job file", describe: "job file, YAML or JSON" },
} as const satisfies Positionals;

export const outOption = {
  out: {
    type: "string",
    alias: "o",
    names: "folder",
    describe: "output folder; s3://bucket/prefix for a bucket; wins over output.dir",
  },
} as const satisfies Options;

export const dirOption = {
  dir: {
    type: "string",
    names: "folder",
    describe: "output folder of a job that is given by its name, or s3://bucket/prefix; default: output",
  },
} as const satisfies Options;

export const memoryOption = {
  memory: { type: "string", default: "800MB", describe: "memory that DuckDB may use, such as 2GB; default: 800MB" },
} as const satisfies Options;

export const formatOption = {
  format: {
    type: "string",
    array: true,
    values: [...fileFormats, "duckdb"],
    describe: `formats to write: ${fileFormats.join(", ")} or duckdb; several with commas, or repeat the flag`,
  },
} as const satisfies Options;

export const paceOption = {
  "max-rps": { describe: "maximum requests per second; wins over service.max_rps" },
} as const satisfies Options;

/** Options that say how a run is to read. */
export const readingOptions = {
  "child-chunks": {
    type: "string",
    values: ["all", "auto", "none"],
    describe: "child lists to read: all, auto (as few as the evidence allows) or none",
  },
  consistency: {
    type: "string",
    values: ["sweeps", "anchored", "counts"],
    describe:
      "how to prove that lists are complete: sweeps reads lists of several pages twice; anchored reads them once; counts may lose rows",
  },
} as const satisfies Options;

/** Options that name a service, datasets and documents. */
export const jobOptions = {
  "base-url": { type: "string", describe: "without a job file: the service, such as https://kb.example.com/v1" },
  dataset: { type: "string", describe: "without a job file: UUID of the dataset, or all" },
  document: {
    type: "string",
    array: true,
    describe: "without a job file: UUIDs of documents, with commas or repeated; or all",
  },
  batch: {
    type: "string",
    array: true,
    describe:
      "batches whose indexing status to take, with commas or repeated; replaces those of a job file of one dataset",
  },
  name: { type: "string", describe: "without a job file: name of the job; default: the UUID of the dataset" },
  ...outOption,
  concurrency: { describe: "maximum concurrent requests, 1 to 64; wins over service.concurrency" },
  "allow-http": {
    type: "boolean",
    describe: "allow plain http to another host, which shows the key to the network",
  },
  ...environmentOption,
} as const satisfies Options;

type JobArguments = Partial<ArgumentsOf<typeof jobPositional & typeof jobOptions>>;

/**
 * The job of a command line: its file with the flags over it, or the flags alone. UsageError with every problem. Only a command
 * that `notifies` needs the variables of `notify`.
 */
export async function jobFrom(
  args: JobArguments,
  more: JobFlags,
  environment: Environment,
  { notifies = false }: { readonly notifies?: boolean } = {},
): Promise<Job> {
  const { job, baseUrl, dataset, document, batch, name, out, concurrency, allowHttp } = args;
  const source: JobSource = job === undefined ? { none: true } : { file: job };
  const flags = Object.entries({ ...more, baseUrl, dataset, document, batch, name, out, concurrency, allowHttp });
  const { loadJob } = await import("../job/load-job.js");
  return loadJob(source, Object.fromEntries(flags.filter(([, value]) => value !== undefined)), environment.env, {
    notifies,
  });
}

/** The view that the common options ask for. It names what lies in buckets by its address. */
export function viewFrom({ logFormat, quiet }: ArgumentsOf<typeof commonOptions>, { stderr, env }: Environment): View {
  const view = openView({ output: stderr, env, format: logFormat, quiet });
  const names = bucketNames(env);
  return { ...view, log: (level, message) => view.log(level, names(message)) };
}

/** The folder that a command looks in for what its words name, and the view that shows how copies from buckets go on. */
export function placesFrom(
  args: ArgumentsOf<typeof commonOptions & typeof dirOption>,
  environment: Environment,
): FindOptions {
  const view = viewFrom(args, environment);
  const watch = (progress: ReadProgress) => view.watch(renderReading(progress));
  return { dir: args.dir, env: environment.env, signal: environment.signal, log: view.log, watch };
}

/** Different ids in lower case: `--document a,b` and `--document a --document b` are the same. */
export function itemsOf(given: readonly string[] | undefined): readonly string[] {
  const items = (given ?? []).flatMap((texts) => texts.split(",").map((text) => text.trim().toLowerCase()));
  return [...new Set(items)];
}
