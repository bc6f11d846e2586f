import type { FileFormat } from "../dump/formats/formats.js";
import type { Compression } from "../files/compression.js";
import type { Label } from "./draft-from-file.js";

/** The checked job: what every later stage is given. Nothing of it is left to be checked again. */

export type Format = FileFormat | "duckdb";

export interface ServiceOptions {
  /** True: the embedded service with its sample data, and baseUrl is "". */
  readonly demo: boolean;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Name of the variable that holds the key; apiKeyFile and apiKeyCommand come first where there is one. */
  readonly apiKeyEnv: string;
  readonly apiKeyFile: string | undefined;
  /** A program and its arguments that prints the key. */
  readonly apiKeyCommand: readonly string[] | undefined;
  /** Maximum concurrent requests, 1 to 64. */
  readonly concurrency: number;
  /** Maximum requests per second. */
  readonly maxRps: number | undefined;
  /** Seconds for one request. */
  readonly timeout: number;
  /** Tries after the first, 0 to 20. */
  readonly retries: number;
  /** Seconds for which the service may be gone in the middle of a run. */
  readonly outage: number;
  /** Bytes of one answer at the most. */
  readonly maxBody: number;
  /** Bytes of one original file at the most. */
  readonly maxOriginal: number;
  readonly caFile: string | undefined;
  readonly allowHttp: boolean;
}

/** A dataset as the job names it. */
export interface DatasetJob {
  readonly id: string;
  /** all: those that the service lists when the run begins. */
  readonly documents: readonly string[] | "all";
  readonly batches: readonly string[];
  readonly status: readonly string[];
  readonly keyword: string | undefined;
}

/** How many runs to keep; at least one of the four is there. */
export type Keep = {
  readonly last?: number;
  readonly daily?: number;
  readonly weekly?: number;
  readonly monthly?: number;
};

export interface OutputOptions {
  /** The folder of the results; with a bucket the folder of what is in work on this machine. */
  readonly dir: string;
  /** `s3://bucket/prefix`, where the results go; undefined: they stay in `dir`. */
  readonly bucket: string | undefined;
  /** A bucket may be used although its store ignores conditions of writes. */
  readonly allowUnsafeLock: boolean;
  readonly formats: readonly Format[];
  /** undefined: every run is kept. */
  readonly keep: Keep | undefined;
  readonly keepSignatures: boolean;
  readonly csvSafe: boolean;
  /** How the JSONL and CSV files of the run folder are compressed. */
  readonly compress: Compression;
  /** dataset: the files of chunks and child chunks lie in a folder for each dataset. */
  readonly partition: "none" | "dataset";
  /** The copy of the metrics for everybody; undefined: there is none. */
  readonly metricsFile: string | undefined;
  /** DuckDB's memory limit, as DuckDB reads it: "800MB". */
  readonly memory: string;
}

/** The URLs to notify of a run. Every URL is a secret, to be shown nowhere; at least one is there. */
export type NotifyUrls = {
  /** Stands for all that are not there, by the convention of healthchecks.io. */
  readonly url?: string;
  readonly start?: string;
  readonly success?: string;
  readonly partial?: string;
  readonly failure?: string;
};

/** json: figures, and a `text` for people, which Slack shows · teams: the text as an Adaptive Card. */
export type NotifyStyle = "json" | "teams";

export interface Notify {
  readonly urls: NotifyUrls;
  readonly style: NotifyStyle;
}

/** A part of the documents of a job, which one machine of several reads: 1 ≤ index ≤ count ≤ 10,000. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The place of a job's runs, and how long they stay: all that is needed where nothing is asked of the service. */
export interface JobLocation {
  readonly name: string;
  readonly output: Pick<OutputOptions, "dir" | "bucket" | "keep">;
  /** The shard whose runs are meant; each has a folder of its own in that of the job. */
  readonly shard?: Shard | undefined;
}

export interface Job {
  readonly name: string;
  readonly service: ServiceOptions;
  /** all: every dataset that the service lists, with all of its documents. */
  readonly datasets: readonly DatasetJob[] | "all";
  readonly childChunks: "all" | "auto" | "none";
  readonly consistency: "sweeps" | "counts" | "anchored";
  /** Whether the settings of datasets and documents are read, too: what a restore needs. */
  readonly details: boolean;
  /** Whether the files that documents were made from are saved. */
  readonly originals: boolean;
  /** Hours within which a run that broke off is continued. */
  readonly resumeWithin: number;
  readonly output: OutputOptions;
  /** undefined: no notifications. */
  readonly notify: Notify | undefined;
  /** The flags that stand for settings, for messages that name one. */
  readonly labels: readonly Label[];
  /** Set by `run --shard` alone; undefined: the run reads every document of the job. */
  readonly shard: Shard | undefined;
  /** The file of `run --documents-from`, which lists the documents; undefined: the run asks the service. */
  readonly documentsFrom: string | undefined;
}

/** The names that a job can have: they name its folder and its database. */
export const jobName = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** Whether a text can be the name of a job. */
export function isJobName(text: string): boolean {
  return jobName.test(text);
}

/** The datasets that a job names by id; none where it says all. */
export function namedDatasets({ datasets }: Pick<Job, "datasets">): readonly DatasetJob[] {
  return datasets === "all" ? [] : datasets;
}

/** The base URL of a service, or `demo` for the embedded one, which has another port at every start. */
export function serviceName({ demo, baseUrl }: Pick<ServiceOptions, "demo" | "baseUrl">): string {
  return demo ? "demo" : baseUrl;
}
