import type { Argv } from "yargs";
import type { Job } from "../job/job.js";
import type { JobSource } from "../job/load-job.js";
import type { JobFlags } from "../job/merge-flags.js";
import { openView, type View } from "../terminal/view.js";
import type { World } from "./world.js";

/** What every command takes. */
export function withCommonOptions<T>(yargs: Argv<T>) {
  return yargs
    .option("json", {
      type: "boolean",
      default: false,
      describe: "print the result as one JSON object, as the last line",
    })
    .option("quiet", { type: "boolean", default: false, describe: "no progress and no warnings on stderr" })
    .option("log-format", {
      choices: ["text", "json"] as const,
      default: "text" as const,
      describe: "progress on stderr for people or for machines",
    });
}

/** What tells which service, datasets and documents are meant. */
export function withJobOptions<T>(yargs: Argv<T>) {
  return yargs
    .positional("job", { type: "string", describe: "job file, YAML or JSON" })
    .option("base-url", {
      type: "string",
      describe: "without a job file: the service, such as https://kb.example.com/v1",
    })
    .option("dataset", { type: "string", describe: "without a job file: the dataset's UUID, or all" })
    .option("document", {
      type: "string",
      array: true,
      nargs: 1,
      describe: "without a job file: a document's UUID; repeatable; or all",
    })
    .option("batch", {
      type: "string",
      array: true,
      nargs: 1,
      describe: "a batch whose status to take; repeatable; with a job file of one dataset, in place of its batches",
    })
    .option("out", { type: "string", describe: "output folder" })
    .option("concurrency", { type: "number", describe: "requests in flight at the most, 1 to 64" });
}

interface JobArguments {
  readonly job?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly dataset?: string | undefined;
  readonly document?: string[] | undefined;
  readonly batch?: string[] | undefined;
  readonly out?: string | undefined;
  readonly concurrency?: number | undefined;
}

/** The job of a command line: its file with the flags over it, or the flags alone. UsageError with every problem. */
export async function jobFrom(argv: JobArguments, more: JobFlags, world: World): Promise<Job> {
  const { job, baseUrl, dataset, document, batch, out, concurrency } = argv;
  const source: JobSource = job === undefined ? { none: true } : { file: job };
  const flags = Object.entries({ ...more, baseUrl, dataset, document, batch, out, concurrency });
  const { loadJob } = await import("../job/load-job.js");
  return loadJob(source, Object.fromEntries(flags.filter(([, value]) => value !== undefined)), world.env);
}

/** The view that the common options ask for. */
export function viewFrom(argv: { quiet: boolean; logFormat: "text" | "json" }, world: World): View {
  return openView({ output: world.stderr, env: world.env, format: argv.logFormat, quiet: argv.quiet });
}
