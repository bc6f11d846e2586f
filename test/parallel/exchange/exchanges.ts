import { createHash } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Job } from "../../../src/job/job.js";
import {
  type Attempt,
  attemptOf,
  beginAttempt,
  type Exchange,
  type OwnExchange,
} from "../../../src/parallel/exchange.js";
import { type ExchangeOptions, openExchanges, ownExchange } from "../../../src/parallel/open-exchange.js";
import type { SegmentFacts } from "../../../src/segments/segment.js";
import { foldersOf } from "../../../src/store/folder/job-folders.js";
import type { LeasedJob } from "../../../src/store/lease.js";
import { dataset, document } from "../../job/job-folder.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import type { TestStore } from "../../servers/start-s3.js";
import { openAt } from "../../store/bucket/bucket-helpers.js";
import { underJobLease } from "../../under-lease.js";

export const runId = "20261120T020000000Z";

/** A coordinator and its workers that share the output of a job. */
export interface ExchangeEnvironment {
  readonly own: OwnExchange;
  readonly worker: () => Promise<Exchange>;
  /** Restarts the coordinator of the run, as after a kill. */
  readonly restart: () => Promise<OwnExchange>;
  /** Changes the bytes of a submitted file. */
  readonly damage: (name: string, token: string, file: string, bytes: string) => Promise<void>;
  /** A path to which a test copies a submitted file. */
  readonly target: string;
}

/** No key, no interruption, no log. */
export const exchangeOptions: ExchangeOptions = {
  env: {},
  signal: new AbortController().signal,
  log: () => {},
};

/** Opens the exchange of the run as its coordinator and writes a plan. */
export async function ownPlanned(leased: LeasedJob): Promise<OwnExchange> {
  const own = await ownExchange(leased, runId);
  await own.write("plan.json", "{}");
  return own;
}

/** Takes a file of a result. */
export async function take(
  own: OwnExchange,
  { token }: Attempt,
  { file, ...facts }: SegmentFacts,
  path: string,
  name = "1",
) {
  await rm(path, { force: true });
  return own.take(`attempts/${attemptOf(name, token)}/${file}`, path, facts);
}

/** A job with a folder as output, leased until the test ends or calls `release`. */
export async function holdFolder() {
  const folder = await testFolder();
  const job = await jobFor(folder, { service: { demo: true }, datasets: [{ id: dataset, documents: [document] }] });
  return { folder, job, folders: foldersOf(job), ...(await holdJob(job)) };
}

/** Leases a job until the test ends or calls `release`. */
export async function holdJob(
  job: Job,
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly leased: LeasedJob; readonly release: () => Promise<void> }> {
  let end = () => {};
  let holding: Promise<void> | undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const options = { ...exchangeOptions, env, now: () => new Date("2026-11-22T02:00:00Z") };
  const leased = await new Promise<LeasedJob>((resolve, reject) => {
    holding = underJobLease(job, options, (held) => {
      resolve(held);
      return ended;
    });
    holding.catch(reject);
  });
  const release = async () => {
    end();
    await holding?.catch(() => {});
  };
  onTestFinished(release);
  return { leased, release };
}

/** The exchange of a job with a folder as output. */
export async function openFolderEnvironment(): Promise<ExchangeEnvironment> {
  const { folder, job, folders, leased, release } = await holdFolder();
  return {
    own: await ownPlanned(leased),
    worker: async () => (await openExchanges(job, exchangeOptions)).of(runId),
    restart: async () => {
      await release();
      return ownExchange((await holdJob(job)).leased, runId);
    },
    damage: (name, token, file, bytes) =>
      writeFile(join(folders.private, "exchange", runId, "attempts", attemptOf(name, token), file), bytes),
    target: join(folder, "taken"),
  };
}

let count = 0;

/** A job with a bucket as output, leased until the test ends or calls `release`. Each machine has its own work folder. */
export async function holdBucket(store: TestStore, more: object = {}) {
  const folder = await testFolder();
  const name = `kb-exchange-${++count}-${process.pid}`;
  await store.makeBucket(name);
  const machine = async (host: string, env = store.env, outage = 0) => {
    const facts = { service: { demo: true, outage }, datasets: [{ id: dataset, documents: [document] }] };
    const output = { dir: `s3://${name}/team`, work_dir: join(folder, host), ...more };
    const job = await jobFor(folder, { ...facts, output });
    return { job, env };
  };
  const { job } = await machine("coordinator");
  const bucket = await openAt(store, `s3://${name}/team/test`);
  /** Opens the exchanges as a worker on a machine does. */
  const openWorker = async (host: string, env = store.env, outage = 0) => {
    const exchanges = await openExchanges((await machine(host, env, outage)).job, { ...exchangeOptions, env });
    onTestFinished(() => exchanges[Symbol.asyncDispose]());
    return exchanges;
  };
  return { folder, job, bucket, machine, openWorker, ...(await holdJob(job, store.env)) };
}

/** The exchange of a job with a bucket as output. */
export async function openBucketEnvironment(store: TestStore): Promise<ExchangeEnvironment> {
  const { folder, job, bucket, openWorker, leased, release } = await holdBucket(store);
  return {
    own: await ownPlanned(leased),
    worker: async () => (await openWorker(`worker-${++count}`)).of(runId),
    restart: async () => {
      await release();
      return ownExchange((await holdJob(job, store.env)).leased, runId);
    },
    damage: async (name, token, file, bytes) =>
      void (await bucket.put(`exchange/${runId}/attempts/${name}.${token}/${file}`, Buffer.from(bytes))),
    target: join(folder, "taken"),
  };
}

/** Starts an attempt and writes files into its folder, like a worker that reads a document. */
export async function readInto(
  exchange: Exchange,
  name: string,
  texts: Readonly<Record<string, string>>,
): Promise<{ readonly attempt: Attempt; readonly files: readonly SegmentFacts[] }> {
  const attempt = await beginAttempt(exchange, name);
  if (!attempt) throw new Error("the run is over");
  const files: SegmentFacts[] = [];
  for (const [file, content] of Object.entries(texts)) {
    await writeFile(join(attempt.folder, file), content);
    files.push({ file, ...factsOf(content) });
  }
  return { attempt, files };
}

export const factsOf = (content: string) => ({
  bytes: Buffer.byteLength(content),
  sha256: createHash("sha256").update(content).digest("hex"),
});
