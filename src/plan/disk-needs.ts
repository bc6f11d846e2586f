import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type FileFormat, fileFormats, formatOf } from "../dump/formats/formats.js";
import type { Job } from "../job/job.js";
import { foldersOf } from "../store/folder/job-folders.js";
import type { PlanDisk } from "./job-plan.js";

/** Maximum database bytes per byte of JSONL, measured with texts in several languages. */
const databaseShare = 0.6;
/**
 * Maximum compressed bytes per byte of text, for gzip and zstd. Measured: 0.14 to 0.24 with English and code, 0.39 with Chinese in
 * chunks of 800 characters. A margin is added, because CSV does not repeat names.
 */
const compressedShare = 0.5;
const smallestDatabase = 3_000_000;

/** The disk space that a run needs for this much JSONL, and the free space. Writes nothing. */
export async function diskSpace(job: Job, jsonl: number): Promise<PlanDisk> {
  const { database } = foldersOf(job);
  const before = await stat(database).then(
    ({ size }) => size,
    () => 0,
  );
  const { folder, free } = await freeSpace(job.output.dir);
  const needs = diskNeeds(job.output, jsonl, before);
  return { folder, ...needs, free_bytes: free, enough: free === null ? null : free >= needs.needed_bytes };
}

/** The bytes that remain after a run, and the most that it needs at one moment. `before`: the current size of the database. */
export function diskNeeds(
  { formats, compress }: Pick<Job["output"], "formats" | "compress">,
  jsonl: number,
  before: number,
): Pick<PlanDisk, "needed_bytes" | "run_folder_bytes" | "database_bytes"> {
  const bytesOf = (format: FileFormat) => (formats.includes(format) ? jsonl * (formatOf(format).size ?? 1) : 0);
  const hasDatabase = formats.includes("duckdb");
  const database = hasDatabase ? Math.max(before, smallestDatabase + jsonl * databaseShare) : 0;
  const shareOf = (format: FileFormat) => (compress !== "none" && formatOf(format).isText ? compressedShare : 1);
  const runFolder = fileFormats.reduce((sum, format) => sum + bytesOf(format) * shareOf(format), 0);
  const segments = jsonl + bytesOf("csv");
  const scratch = (formats.includes("jsonl") ? 0 : jsonl) + (hasDatabase ? database + before : 0);
  return {
    needed_bytes: Math.ceil(segments + runFolder + scratch),
    run_folder_bytes: Math.ceil(runFolder),
    database_bytes: Math.ceil(database),
  };
}

/** The free bytes on the disk of the nearest existing folder. */
async function freeSpace(path: string): Promise<{ folder: string; free: number | null }> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const facts = await statfs(folder).catch(() => undefined);
    if (facts) return { folder, free: facts.bavail * facts.bsize };
    if (dirname(folder) === folder) return { folder, free: null };
  }
}
