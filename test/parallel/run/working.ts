import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import type { Job } from "../../../src/job/job.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";
import { workDocuments } from "../../../src/parallel/worker.js";
import type { WorkerOptions } from "../../../src/parallel/worker-options.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { hasRedis, startRedis, type TestBroker } from "../../servers/start-redis.js";

/** Starts a broker for the tests of a file. */
export function useBroker(): () => TestBroker {
  let broker: TestBroker | undefined;
  beforeAll(async () => {
    if (!hasRedis) return;
    broker = await startRedis();
  });
  afterAll(() => broker?.stop());
  return () => {
    if (!broker) throw new Error("there is no broker");
    return broker;
  };
}

/** Runs a worker in this process until it is stopped; keeps its log. */
export function startWorker(job: Job, broker: string, env: NodeJS.ProcessEnv, more: Partial<WorkerOptions> = {}) {
  const ends = new AbortController();
  const said: string[] = [];
  const log = (_level: string, text: string) => void said.push(text);
  const progress = emptyRunProgress();
  const none = { idle: undefined, inFlight: undefined };
  const ended = workDocuments(job, {
    broker,
    env,
    signal: ends.signal,
    progress,
    log,
    name: "worker",
    ...none,
    ...more,
  }).then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
  const stop = () => {
    ends.abort(new Error("the test is over"));
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return { ended, stop, said };
}

/**
 * Expects both runs to have the same document rows, byte by byte. document_details.jsonl may be empty: only edited
 * documents have details.
 */
export async function expectSameBytes(one: RunResult, other: RunResult): Promise<void> {
  for (const file of ["chunks.jsonl", "child_chunks.jsonl", "documents.jsonl", "document_details.jsonl"]) {
    const [first, second] = await Promise.all([one, other].map(({ folder }) => readFile(join(folder, file), "utf8")));
    if (file !== "document_details.jsonl") expect(first?.length, file).toBeGreaterThan(0);
    expect(second, file).toBe(first);
  }
}
