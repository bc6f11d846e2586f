import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Job, Shard } from "../../../src/job/job.js";
import { loadJob } from "../../../src/job/load-job.js";
import type { RunOptions } from "../../../src/job/open-service.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { runJob } from "../../../src/run/run-job.js";
import type { Bucket } from "../../../src/store/bucket/bucket.js";
import { type Head, headFrom } from "../../../src/store/bucket/head.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import { query } from "../../database/query.js";
import { type RealisticServer, startRealisticServer } from "../../servers/realistic-server.js";
import type { TestStore } from "../../servers/start-s3.js";
import { makeDocument, makeStatusEntry, Store, type TestDocument } from "../../servers/store.js";
import { openAt } from "../../store/bucket/bucket-helpers.js";
import { testFolder } from "../job-for.js";

/** A machine that runs the job, with its own work folder. */
export interface Machine {
  /** The path of the machine's job file. */
  readonly file: string;
  readonly job: Job;
  readonly env: NodeJS.ProcessEnv;
  readonly warnings: string[];
  readonly run: (options?: RunOptions, shard?: Shard) => Promise<RunResult>;
}

/** A job for a small service that publishes into a bucket. */
export interface BucketEnvironment {
  /** The prefix of the job in the bucket. */
  readonly bucket: Bucket;
  readonly url: string;
  readonly server: RealisticServer;
  readonly documents: readonly [TestDocument, TestDocument];
  readonly folder: string;
  /** Sets up a machine; `env` points to the store, or to a proxy in front of it. */
  readonly machine: (name: string, output?: object, env?: NodeJS.ProcessEnv, outage?: number) => Promise<Machine>;
  readonly head: (place?: string) => Promise<Head>;
  /** Downloads every file of a run and verifies the run; returns the folder. `place`: the prefix of a shard. */
  readonly fetched: (runId: string, place?: string) => Promise<string>;
  /** The values that an SQL query returns from the database in the bucket. */
  readonly inDatabase: (sql: string) => Promise<readonly unknown[]>;
}

let count = 0;

/** Makes a bucket with a job for two documents, which tests may edit. */
export async function openBucketEnvironment(store: TestStore): Promise<BucketEnvironment> {
  const knowledge = new Store();
  const documentOf = (seed: number) => makeDocument({ chunks: 5, childrenPerChunk: 1, seed });
  const documents = [documentOf(1), documentOf(2)] as const;
  const dataset = knowledge.addDataset(...documents);
  dataset.batches.set(
    "2026",
    documents.map(({ id }) => makeStatusEntry(id)),
  );
  const server = await startRealisticServer(knowledge);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const name = `kb-dumps-${++count}-${process.pid}`;
  await store.makeBucket(name);
  const url = `s3://${name}/team`;
  const bucket = await openAt(store, `${url}/test`);
  const head = async (place = "") =>
    headFrom((await bucket.read(`${place}head.json`))?.bytes ?? Buffer.alloc(0), bucket.url);

  const machine = async (host: string, output: object = {}, env = store.env, outage = 0): Promise<Machine> => {
    const file = join(folder, `${host}.yaml`);
    const dir = { dir: url, work_dir: join(folder, host), formats: ["jsonl", "duckdb"] };
    const datasets = [{ id: dataset.id, documents: documents.map(({ id }) => id) }];
    const service = { base_url: server.url, outage };
    const facts = { name: "test", service, datasets, details: false, output: { ...dir, ...output } };
    await writeFile(file, JSON.stringify(facts));
    const job = await loadJob({ file }, {}, {});
    const warnings: string[] = [];
    const log = (level: string, message: string) => void (level === "warn" && warnings.push(message));
    const all = { ...env, KNOWLEDGE_API_KEY: server.key };
    const run = (options: RunOptions = {}, shard?: Shard) => runJob({ ...job, shard }, { env: all, log, ...options });
    return { file, job, env: all, warnings, run };
  };

  const fetched = async (runId: string, place = "") => {
    const run = (await head(place)).runs.find(({ run_id }) => run_id === runId);
    const target = join(folder, "fetched", `${++count}`, runId);
    const below = `${place}${run?.folder}/`;
    for await (const { key } of bucket.list(below)) {
      const path = join(target, key.slice(below.length));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, (await bucket.read(key))?.bytes ?? "");
    }
    expect((await verifyRun(target)).findings).toEqual([]);
    return target;
  };

  const inDatabase = async (sql: string) => {
    const path = join(folder, `database-${++count}.duckdb`);
    await writeFile(path, (await bucket.read("test.duckdb"))?.bytes ?? "");
    return (await query(sql, path)).flat();
  };
  return { bucket, url, server, documents, folder, machine, head, fetched, inDatabase };
}

/** The text of the files whose bytes are the same in every run over the same data. */
export async function stableTexts(folder: string): Promise<readonly string[]> {
  return Promise.all(["chunks.jsonl", "child_chunks.jsonl"].map((name) => readFile(join(folder, name), "utf8")));
}

/** The files in the runs of a work folder, as `run/file`. */
export async function filesInWork({ job }: Machine): Promise<readonly string[]> {
  const runs = join(job.output.dir, "test", "runs");
  const names: string[] = [];
  for (const run of (await readdir(runs)).sort())
    names.push(...(await readdir(join(runs, run))).map((name) => `${run}/${name}`));
  return names;
}
