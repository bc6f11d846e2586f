import { isMapping } from "../schema.js";
import type { Path } from "./findings.js";
import { isBucketUrl } from "./s3-url.js";

/** The flags that say something of a job, as the command line gives them: not checked. Items of a list may stand in one text, with commas. */
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

/** A flag that was given, and the place of the job file that it stands for. */
export interface GivenFlag {
  readonly flag: string;
  readonly path: Path;
  readonly value: unknown;
}

/** Takes away what only a bucket needs. */
const noWorkFolder: GivenFlag = { flag: "", path: ["output", "work_dir"], value: undefined };

/** The given ones of the flags that win over a job file. A local folder in the place of a bucket needs no work folder. */
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

/** The flag that wins over a job file of one dataset: the batches of a re-index are not known before it. */
export function batchFlag(flags: JobFlags): readonly GivenFlag[] {
  return givenOf([["--batch", ["datasets", 0, "batches"], itemsOf(flags.batch)]]);
}

/** The given ones of the flags that only make a job where there is no job file. */
export function sourceFlags(flags: JobFlags): readonly GivenFlag[] {
  return givenOf([
    ["--base-url", ["service", "base_url"], flags.baseUrl],
    ["--dataset", ["datasets", 0, "id"], flags.dataset],
    ["--document", ["datasets", 0, "documents"], itemsOf(flags.document)],
    ["--name", ["name"], flags.name],
  ]);
}

/** Puts every flag's value at its place. What stands in the way of one is left for the check to complain about. */
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

/** The number that a text of the command line is; all else as it came, for the check to complain about. */
export function numberFrom(value: unknown): unknown {
  return typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}
