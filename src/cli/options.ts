import { fileFormats } from "../dump/formats/formats.js";
import type { Job } from "../job/job.js";
import type { JobSource } from "../job/load-job.js";
import type { JobFlags } from "../job/merge-flags.js";
import { openView, type View } from "../terminal/view.js";
import type { ArgumentsOf, Options, Positionals } from "./command.js";
import type { World } from "./world.js";

/** Options of every command. */
export const commonOptions = {
  json: { type: "boolean", default: false, describe: "print the result as one JSON object, as the last line" },
  quiet: { type: "boolean", default: false, describe: "no progress and no warnings on stderr" },
  "log-format": {
    choices: ["text", "json"],
    default: "text",
    describe: "progress on stderr for people or for machines",
  },
} as const satisfies Options;

export const jobPositional = {
  job: { type: "string", describe: "job file, YAML or JSON" },
} as const satisfies Positionals;

export const outOption = { out: { type: "string", describe: "output folder" } } as const satisfies Options;

export const dirOption = {
  dir: { type: "string", describe: "output folder of a job that is given by its name; output by default" },
} as const satisfies Options;

export const memoryOption = {
  memory: { type: "string", default: "800MB", describe: "what DuckDB may use, such as 2GB" },
} as const satisfies Options;

export const formatOption = {
  format: { type: "string", array: true, nargs: 1, describe: `${fileFormats.join(", ")} or duckdb; repeatable` },
} as const satisfies Options;

export const paceOption = {
  "max-rps": { type: "number", describe: "requests a second at the most" },
} as const satisfies Options;

/** Options that name a service, datasets and documents. */
export const jobOptions = {
  "base-url": { type: "string", describe: "without a job file: the service, such as https://kb.example.com/v1" },
  dataset: { type: "string", describe: "without a job file: the dataset's UUID, or all" },
  document: {
    type: "string",
    array: true,
    nargs: 1,
    describe: "without a job file: a document's UUID; repeatable; or all",
  },
  batch: {
    type: "string",
    array: true,
    nargs: 1,
    describe: "a batch whose status to take; repeatable; with a job file of one dataset, in place of its batches",
  },
  ...outOption,
  concurrency: { type: "number", describe: "requests in flight at the most, 1 to 64" },
} as const satisfies Options;

type JobArguments = Partial<ArgumentsOf<typeof jobPositional & typeof jobOptions>>;

/** The job of a command line: its file with the flags over it, or the flags alone. UsageError with every problem. */
export async function jobFrom(args: JobArguments, more: JobFlags, world: World): Promise<Job> {
  const { job, baseUrl, dataset, document, batch, out, concurrency } = args;
  const source: JobSource = job === undefined ? { none: true } : { file: job };
  const flags = Object.entries({ ...more, baseUrl, dataset, document, batch, out, concurrency });
  const { loadJob } = await import("../job/load-job.js");
  return loadJob(source, Object.fromEntries(flags.filter(([, value]) => value !== undefined)), world.env);
}

/** The view that the common options ask for. */
export function viewFrom({ logFormat, quiet }: ArgumentsOf<typeof commonOptions>, { stderr, env }: World): View {
  return openView({ output: stderr, env, format: logFormat, quiet });
}
