import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { readTextPieces } from "../../src/files/lines.js";
import type { Job } from "../../src/job/job.js";
import { findShards } from "../../src/join/find-shards.js";
import { type JoinOptions, type JoinResult, joinShards } from "../../src/join/join-shards.js";
import type { RunResult } from "../../src/run/make-run.js";
import { query } from "../run/read-dump.js";
import { allOf, startPlace } from "../run/shards/sharding.js";

export type Place = Awaited<ReturnType<typeof startPlace>>;

/** A service, a job with a few documents, and a function that joins the shards of the job. */
export async function startJoining(...args: Parameters<typeof startPlace>) {
  const place = await startPlace(...args);
  const dir = join(place.folder, "out");
  const joinJob = async (options: JoinOptions = {}, words = [join(dir, "test")]): Promise<JoinResult> =>
    joinShards(await findShards(words, { out: dir, env: {} }), { env: {}, ...options });
  const runShards = async (count: number, changes: Partial<Job> = {}): Promise<readonly RunResult[]> => {
    const results: RunResult[] = [];
    for (const shard of allOf(count)) results.push(await place.run({ ...changes, shard }));
    return results;
  };
  return { ...place, dir, joinJob, runShards };
}

/** The text of a file of a run; decompresses it if needed. */
async function textOf(folder: string, path: string): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of readTextPieces(join(folder, path))) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

/** Expects the files of two runs to have the same text; Parquet files, the same rows in the same order. */
export async function expectSameFiles(one: RunResult, other: RunResult): Promise<void> {
  const paths = ({ manifest }: RunResult) => manifest.files.map(({ path }) => path);
  expect(paths(one)).toEqual(paths(other));
  for (const path of paths(one)) {
    if (path.startsWith("indexing_status")) continue; // the times of its readings differ
    const read = async ({ folder }: RunResult) =>
      path.endsWith(".parquet")
        ? query(`SELECT * FROM read_parquet('${join(folder, path)}', hive_partitioning = false)`)
        : textOf(folder, path);
    expect(await read(one), path).toEqual(await read(other));
  }
}

/** Expects the databases of two runs to have the same rows. */
export async function expectSameState(one: RunResult, other: RunResult): Promise<void> {
  const rows = ({ database }: RunResult, table: string) =>
    query(`SELECT * EXCLUDE (run_id) FROM ${table} ORDER BY ALL`, database);
  for (const table of ["chunks", "child_chunks", "documents", "metadata_fields", "document_info"])
    expect(await rows(one, table), table).toEqual(await rows(other, table));
}

/** Reads the manifest in a run folder. */
export async function manifestIn(folder: string) {
  return JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
}
