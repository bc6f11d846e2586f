import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type FileFormat, fileFormats, modulesOf } from "../dump/formats/formats.js";
import type { Job } from "../job/job.js";
import { foldersOf } from "../run/work/job-folders.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { PlanDisk } from "./job-plan.js";

/** Bytes of the database to a byte of JSONL at the most, as measured with texts of several languages. */
const databaseShare = 0.6;
/**
 * Bytes of a compressed file to a byte of its text at the most, of gzip and of zstd alike: 0.14 to 0.24 was measured with English and with
 * code, 0.39 with Chinese in chunks of 800 characters. CSV repeats no names, so a little is added.
 */
const compressedShare = 0.5;
/** Bytes of the smallest database, and of a row in documents. */
const leastDatabase = 3_000_000;
const perDocument = 400;

/** The disk space that a run needs in its output folder, and the space that is free there. Writes nothing. */
export async function diskSpace(job: Job, surveys: readonly DocumentSurvey[]): Promise<PlanDisk> {
  const { database } = foldersOf(job);
  const before = await stat(database).then(
    ({ size }) => size,
    () => 0,
  );
  const { folder, free } = await freeSpace(job.output.dir);
  const jsonl = surveys.reduce((sum, { total, sizes, childCount }) => {
    const children = job.childChunks === "none" ? 0 : childCount.count * sizes.mean("child_chunks").jsonl;
    return sum + (total ?? 0) * sizes.mean("chunks").jsonl + children + perDocument;
  }, 0);
  const needs = diskNeeds(job.output, jsonl, before);
  return { folder, ...needs, free_bytes: free, enough: free === null ? null : free >= needs.needed_bytes };
}

/**
 * The bytes that stay, and the most that a run needs at one moment, for rows that take `jsonl` bytes as JSONL. `before` is the
 * size of the database so far.
 */
export function diskNeeds(
  { formats, compress }: Pick<Job["output"], "formats" | "compress">,
  jsonl: number,
  before: number,
): Pick<PlanDisk, "needed_bytes" | "run_folder_bytes" | "database_bytes"> {
  const bytesOf = (format: FileFormat) => (formats.includes(format) ? jsonl * (modulesOf(format).size ?? 1) : 0);
  const hasDatabase = formats.includes("duckdb");
  const database = hasDatabase ? Math.max(before, leastDatabase + jsonl * databaseShare) : 0;
  const shareOf = (format: FileFormat) => (compress !== "none" && modulesOf(format).isText ? compressedShare : 1);
  const runFolder = fileFormats.reduce((sum, format) => sum + bytesOf(format) * shareOf(format), 0);
  const parts = jsonl + bytesOf("csv");
  const scratch = (formats.includes("jsonl") ? 0 : jsonl) + (hasDatabase ? database + before : 0);
  return {
    needed_bytes: Math.ceil(parts + runFolder + scratch),
    run_folder_bytes: Math.ceil(runFolder),
    database_bytes: Math.ceil(database),
  };
}

/** Bytes free to us where the folder is, or will be: on the disk of the nearest folder that exists. */
async function freeSpace(path: string): Promise<{ folder: string; free: number | null }> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const facts = await statfs(folder).catch(() => undefined);
    if (facts) return { folder, free: facts.bavail * facts.bsize };
    if (dirname(folder) === folder) return { folder, free: null };
  }
}
