import type { FileFormat } from "../dump/formats/formats.js";
import type { Compression } from "../files/compression.js";
import type { Label } from "./draft-from-file.js";

/** The checked job. Later stages need not check it again. */

export type Format = FileFormat | "duckdb";

export interface ServiceOptions {
  /** True: the embedded service with its sample data, and baseUrl is "". */
  readonly demo: boolean;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The variable with the key. apiKeyFile and apiKeyCommand take precedence. */
  readonly apiKeyEnv: string;
  readonly apiKeyFile: string | undefined;
  /** A program, with its arguments, that prints the key. */
  readonly apiKeyCommand: readonly string[] | undefined;
  /** Maximum concurrent requests, 1 to 64. */
  readonly concurrency: number;
  /** Maximum requests per second. */
  readonly maxRps: number | undefined;
  /** Seconds for one request. */
  readonly timeout: number;
  /** Retries per request, 0 to 20. */
  readonly retries: number;
  /** Seconds that the service may be down during a run. */
  readonly outage: number;
  /** Maximum bytes of one answer. */
  readonly maxBody: number;
  /** Maximum bytes of one original file. */
  readonly maxOriginal: number;
  readonly caFile: string | undefined;
  readonly allowHttp: boolean;
}

/** A dataset as the job names it. */
export interface DatasetJob {
  readonly id: string;
  /** all: every document that the service lists when the run starts. */
  readonly documents: readonly string[] | "all";
  readonly batches: readonly string[];
  readonly status: readonly string[];
  readonly keyword: string | undefined;
}

/** How many runs to keep. At least one of the four is set. */
export type Keep = {
  readonly last?: number;
  readonly daily?: number;
  readonly weekly?: number;
  readonly monthly?: number;
};

export interface OutputOptions {
  /** The folder for results; with a bucket, the local folder for work in progress. */
  readonly dir: string;
  /** `s3://bucket/prefix` for the results; undefined: results stay in `dir`. */
  readonly bucket: string | undefined;
  /** Whether to accept a bucket whose store ignores conditional writes. */
  readonly allowUnsafeLock: boolean;
  readonly formats: readonly Format[];
  /** undefined: keep every run. */
  readonly keep: Keep | undefined;
  readonly keepSignatures: boolean;
  readonly csvSafe: boolean;
  /** How the JSONL and CSV files of the run folder are compressed. */
  readonly compress: Compression;
  /** dataset: put the files of chunks and child chunks in one folder per dataset. */
  readonly partition: "none" | "dataset";
  /** The path for a world-readable copy of the metrics; undefined: no copy. */
  readonly metricsFile: string | undefined;
  /** DuckDB's memory limit, in its syntax: "800MB". */
  readonly memory: string;
}

/** The URLs to notify about a run. All are secret and must never be shown. At least one is set. */
export type NotifyUrls = {
  /** Used for every URL that is not set, following the convention of healthchecks.io. */
  readonly url?: string;
  readonly start?: string;
  readonly success?: string;
  readonly partial?: string;
  readonly failure?: string;
};

/** json: figures, and a `text` that Slack shows · teams: the text as an Adaptive Card. */
export type NotifyStyle = "json" | "teams";

export interface Notify {
  readonly urls: NotifyUrls;
  readonly style: NotifyStyle;
}

/** One machine's part of a job's documents: 1 ≤ index ≤ count ≤ 10,000. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Where a job's runs are and how long to keep them. Enough for commands that do not ask the service. */
export interface JobLocation {
  readonly name: string;
  readonly output: Pick<OutputOptions, "dir" | "bucket" | "keep">;
  /** The shard whose runs to use. Each shard has a folder in the job's folder. */
  readonly shard?: Shard | undefined;
}

export interface Job {
  readonly name: string;
  readonly service: ServiceOptions;
  /** all: every dataset that the service lists, with all of its documents. */
  readonly datasets: readonly DatasetJob[] | "all";
  readonly childChunks: "all" | "auto" | "none";
  readonly consistency: "sweeps" | "counts" | "anchored";
  /** Whether to read the settings of datasets and documents too. A restore needs them. */
  readonly details: boolean;
  /** Whether to save the files that documents were made from. */
  readonly originals: boolean;
  /** Hours within which an interrupted run is resumed. */
  readonly resumeWithin: number;
  readonly output: OutputOptions;
  /** undefined: no notifications. */
  readonly notify: Notify | undefined;
  /** The flags that set settings, for messages. */
  readonly labels: readonly Label[];
  /** Set only by `run --shard`; undefined: read every document of the job. */
  readonly shard: Shard | undefined;
  /** The file of `run --documents-from`, which lists the documents; undefined: ask the service. */
  readonly documentsFrom: string | undefined;
}

/** Valid job names. They name the job's folder and database. */
export const jobName = /^[a-z0-9][a-z0-9_-]{0,99}$/;

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
