import { homedir } from "node:os";
import { join } from "node:path";
import type { FileFormat } from "../dump/formats/formats.js";
import type { Label } from "./draft-from-file.js";
import { isBucketUrl, prefixFromUrl, urlOfPrefix } from "./s3-url.js";
import type { JobFile } from "./schema/job-schema.js";
import { defaultKeyVariable } from "./schema/service-schema.js";
import { jobName } from "./schema/shapes.js";

/** The checked job. Later stages need not check it again. */

export type Format = FileFormat | "duckdb";

/** The service in the program's names and units. `baseUrl` is "" for the embedded one. */
export type ServiceOptions = Readonly<ReturnType<typeof serviceFromFile>>;

export interface DatasetJob {
  readonly id: string;
  /** The ids of the documents. all: every document that the service lists when the run starts. */
  readonly documents: readonly string[] | "all";
  readonly batches: readonly string[];
  readonly status: readonly string[];
  readonly keyword: string | undefined;
}

/** The rules of `output.keep`: how many runs to keep. At least one of the four rules is set. */
export type Keep = NonNullable<JobFile["output"]["keep"]>;

/** The output in the program's names. `bucket`: `s3://bucket/prefix`; undefined: the results stay in `dir`. */
export type OutputOptions = Readonly<ReturnType<typeof outputFromFile>>;

/** The URLs to notify about a run (at least one is set), and the style. All URLs are secret and must never be shown. */
export type Notify = Readonly<ReturnType<typeof notifyFromFile>>;
export type NotifyUrls = Notify["urls"];
export type NotifyStyle = Notify["style"];

/** The part of a job's documents that one machine reads. `index` is from 1 to `count`, which is at most 10,000. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The place of a job's runs, and how long to keep them. Enough for commands that do not ask the service. */
export interface JobLocation {
  readonly name: string;
  readonly output: Pick<OutputOptions, "dir" | "bucket" | "keep">;
  /** The shard whose runs to use. Each shard has a folder in the job's folder. */
  readonly shard?: Shard | undefined;
}

export interface Job {
  readonly name: string;
  readonly service: ServiceOptions;
  /** The datasets to read. all: every dataset that the service lists, with all of its documents. */
  readonly datasets: readonly DatasetJob[] | "all";
  readonly childChunks: "all" | "auto" | "none";
  readonly consistency: "sweeps" | "counts" | "anchored";
  /**
   * Whether to read the settings of datasets and the details of documents. true: of all documents, which a copy needs. auto:
   * only of documents that look edited, which is enough for a restore.
   */
  readonly details: "auto" | boolean;
  /** Whether to save the files that documents were made from. */
  readonly originals: boolean;
  /** Hours within which an interrupted run is resumed. */
  readonly resumeWithin: number;
  readonly output: OutputOptions;
  /** Where to send notifications; undefined: nowhere. */
  readonly notify: Notify | undefined;
  /** The settings that flags have set, so that messages name the flags. */
  readonly labels: readonly Label[];
  /** The part of the job to read, set only by `run --shard`; undefined: all documents. */
  readonly shard: Shard | undefined;
  /** The file of `run --documents-from`, which lists the documents; undefined: ask the service. */
  readonly documentsFrom: string | undefined;
}

/** Whether a text can be the name of a job. */
export function isJobName(text: string): boolean {
  return jobName.test(text);
}

/** The datasets that a job names by id; empty if it says all. */
export function namedDatasets({ datasets }: Pick<Job, "datasets">): readonly DatasetJob[] {
  return datasets === "all" ? [] : datasets;
}

/** The base URL of a service; `demo` for the embedded one, because its port changes at every start. */
export function serviceName({ demo, baseUrl }: Pick<ServiceOptions, "demo" | "baseUrl">): string {
  return demo ? "demo" : baseUrl;
}

const bytesPerMegabyte = 1_000_000;

export function serviceFromFile(service: JobFile["service"]) {
  return {
    demo: service.demo,
    baseUrl: service.base_url ?? "",
    apiKeyEnv: service.api_key_env ?? defaultKeyVariable,
    apiKeyFile: atHome(service.api_key_file),
    apiKeyCommand: service.api_key_command,
    concurrency: service.concurrency,
    maxRps: service.max_rps,
    timeout: service.timeout,
    retries: service.retries,
    outage: service.outage,
    maxBody: service.max_body * bytesPerMegabyte,
    maxOriginal: service.max_original * bytesPerMegabyte,
    caFile: atHome(service.ca_file),
    allowHttp: service.allow_http,
  };
}

/** Expands ~ as a shell would, because no shell reads a job file. */
function atHome(path: string | undefined): string | undefined {
  return path?.replace(/^~(?=\/|$)/, () => homedir());
}

export function outputFromFile(output: JobFile["output"]) {
  const formats: readonly Format[] = output.formats;
  return {
    ...outputLocation(output.dir, output.work_dir),
    formats,
    keep: output.keep,
    keepSignatures: output.keep_signatures,
    csvSafe: output.csv_safe,
    compress: output.compress,
    partition: output.partition,
    metricsFile: output.metrics_file,
    memory: output.memory,
  };
}

export function notifyFromFile({ style = "json", ...urls }: NonNullable<JobFile["notify"]>) {
  return { urls, style };
}

/**
 * Splits a user's output location, a folder or `s3://bucket/prefix`, into local folder and bucket. Throws UsageError for an
 * invalid address.
 */
export function outputLocation(
  dir: string,
  workDir?: string,
): { readonly dir: string; readonly bucket: string | undefined } {
  if (!isBucketUrl(dir)) return { dir, bucket: undefined };
  const { bucket, prefix } = prefixFromUrl(dir);
  return { dir: workDir ?? join("output", ".s3", bucket, prefix), bucket: urlOfPrefix({ bucket, prefix }) };
}
