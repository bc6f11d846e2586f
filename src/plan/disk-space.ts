import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Job } from "../job/job.js";
import { foldersOf } from "../run/work/job-folders.js";
import type { PlanDisk } from "./job-plan.js";
import type { Written } from "./written.js";

/** Bytes of Parquet and of a database to a byte of JSONL, as measured with texts of several languages. */
const parquetShare = 0.4;
const databaseShare = 0.6;
/** What the smallest database takes, and a row of a document. */
const leastDatabase = 3_000_000;
const perDocument = 400;

/** What a run needs on the disk of its output folder, against what is free there. Looks, and writes nothing. */
export async function diskSpace(job: Job, written: Written): Promise<PlanDisk> {
  const { database } = foldersOf(job);
  const before = await stat(database).then(
    ({ size }) => size,
    () => 0,
  );
  const { folder, free } = await freeSpace(job.output.dir);
  const needs = diskNeeds(job.output.formats, written, before);
  return { folder, ...needs, free, enough: free === null ? null : free >= needs.needed };
}

/** The bytes that stay, and those that are needed while the run is at work. `before` is the size of the database so far. */
export function diskNeeds(
  formats: Job["output"]["formats"],
  written: Written,
  before: number,
): Pick<PlanDisk, "needed" | "run_folder" | "database"> {
  const { chunks, child_chunks: children, documents } = written;
  const jsonl = chunks.jsonl + children.jsonl + documents * perDocument;
  const csv = formats.includes("csv") ? chunks.csv + children.csv : 0;
  const parquet = formats.includes("parquet") ? jsonl * parquetShare : 0;
  const withDatabase = formats.includes("duckdb");
  const database = withDatabase ? Math.max(before, leastDatabase + jsonl * databaseShare) : 0;
  const runFolder = (formats.includes("jsonl") ? jsonl : 0) + csv + parquet;
  const parts = jsonl + csv;
  const scratch = (formats.includes("jsonl") ? 0 : jsonl) + (withDatabase ? database + before : 0);
  return {
    needed: Math.ceil(parts + runFolder + scratch),
    run_folder: Math.ceil(runFolder),
    database: Math.ceil(database),
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
