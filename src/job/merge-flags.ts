import { isMapping } from "../schema.js";
import type { Path } from "./job-findings.js";
import { isBucketUrl } from "./s3-url.js";

/** The flags for a job, unchecked. List items may be in one text, separated by commas. */
export interface JobFlags {
  readonly baseUrl?: unknown;
  readonly dataset?: unknown;
  readonly document?: readonly string[] | undefined;
  readonly batch?: readonly string[] | undefined;
  readonly name?: unknown;
  readonly out?: unknown;
  readonly format?: readonly string[] | undefined;
  readonly concurrency?: unknown;
  readonly maxRps?: unknown;
  readonly childChunks?: unknown;
  readonly consistency?: unknown;
  readonly csvSafe?: unknown;
  readonly keepSignatures?: unknown;
  readonly allowHttp?: unknown;
}

/** A given flag, and its path in the job file. */
export interface GivenFlag {
  readonly flag: string;
  readonly path: Path;
  readonly value: unknown;
}

/** Removes the setting that only a bucket needs. */
const noWorkFolder: GivenFlag = { flag: "", path: ["output", "work_dir"], value: undefined };

/** The given flags that override a job file. If a local folder replaces a bucket, the work folder is not needed. */
export function overridingFlags(flags: JobFlags): readonly GivenFlag[] {
  const isLocal = typeof flags.out === "string" && !isBucketUrl(flags.out);
  const given = givenOf([
    ["--out", ["output", "dir"], flags.out],
    ["--format", ["output", "formats"], itemsOf(flags.format)],
    ["--csv-safe", ["output", "csv_safe"], flags.csvSafe],
    ["--keep-signatures", ["output", "keep_signatures"], flags.keepSignatures],
    ["--concurrency", ["service", "concurrency"], numberFrom(flags.concurrency)],
    ["--max-rps", ["service", "max_rps"], numberFrom(flags.maxRps)],
    ["--allow-http", ["service", "allow_http"], flags.allowHttp],
    ["--child-chunks", ["child_chunks"], flags.childChunks],
    ["--consistency", ["consistency"], flags.consistency],
  ]);
  return isLocal ? [...given, noWorkFolder] : given;
}

/** The flag for batches. It also works with a job file of one dataset, because the batches of a re-index are not known in advance. */
export function batchFlag(flags: JobFlags): readonly GivenFlag[] {
  return givenOf([["--batch", ["datasets", 0, "batches"], itemsOf(flags.batch)]]);
}

/** The given flags that define a job when there is no job file. */
export function sourceFlags(flags: JobFlags): readonly GivenFlag[] {
  return givenOf([
    ["--base-url", ["service", "base_url"], flags.baseUrl],
    ["--dataset", ["datasets", 0, "id"], flags.dataset],
    ["--document", ["datasets", 0, "documents"], itemsOf(flags.document)],
    ["--name", ["name"], flags.name],
  ]);
}

/**
 * Sets every flag's value at its path. If the path leads through a value that is not a mapping, leaves that for the check to
 * report.
 */
export function mergeFlags(document: unknown, flags: readonly GivenFlag[]): unknown {
  return flags.reduce((merged, { path, value }) => withValue(merged, path, value), document);
}

function withValue(document: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(document) && typeof key === "number" && key < document.length) {
    return document.with(key, withValue(document[key], rest, value));
  }
  const parent = document ?? {};
  return isMapping(parent) ? { ...parent, [key]: withValue(parent[key], rest, value) } : document;
}

function givenOf(flags: readonly (readonly [flag: string, path: Path, value: unknown])[]): readonly GivenFlag[] {
  return flags.flatMap(([flag, path, value]) => (value === undefined ? [] : [{ flag, path, value }]));
}

/** `--format csv,parquet` and `--format csv --format parquet` are the same. */
export function itemsOf(given: readonly string[] | undefined): readonly string[] | undefined {
  return given?.flatMap((texts) => texts.split(",").map((text) => text.trim()));
}

/** Converts a command-line text to a number if it is one. Anything else is left for the check to report. */
export function numberFrom(value: unknown): unknown {
  return typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}
