import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { RunOptions } from "../../../src/job/open-service.js";
import type { Row } from "../../../src/rows/row.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { runJob } from "../../../src/run/run-job.js";
import type { Behaviour } from "../../servers/behaviour.js";
import { type RealisticServer, startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store, type TestDataset, type TestDocument } from "../../servers/store.js";
import { jobFor, testFolder } from "../job-for.js";
import { readJsonl } from "../read-dump.js";

/** A server with these documents, and a job that reads them by id with one request at a time. */
export interface Place {
  readonly server: RealisticServer;
  readonly dataset: TestDataset;
  /** Runs the job with these overrides. Its name stays the same, so a run can resume an earlier one. */
  readonly run: (more?: Record<string, unknown>, options?: Pick<RunOptions, "retryFailed">) => Promise<Proved>;
}

export interface Proved extends RunResult {
  readonly chunks: readonly Row[];
  readonly children: readonly Row[];
}

export async function startPlace(documents: readonly TestDocument[], behaviour: Behaviour = {}): Promise<Place> {
  const store = new Store();
  const dataset = store.addDataset(...documents);
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const run: Place["run"] = async (more = {}, options = {}) => {
    const job = await jobFor(folder, {
      service: { base_url: server.url, concurrency: 1, retries: 0 },
      datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id) }],
      output: { dir: join(folder, "out"), formats: ["jsonl"] },
      ...more,
    });
    const result = await runJob(job, { env: { KNOWLEDGE_API_KEY: server.key }, ...options });
    const childChunks = more.child_chunks === "none" ? [] : await readJsonl(result.folder, "child_chunks");
    return { ...result, chunks: await readJsonl(result.folder, "chunks"), children: childChunks };
  };
  return { server, dataset, run };
}

/** A document whose indexing is complete: positions 1, 2, 3 and so on, every chunk completed. */
export function makeIndexed(options: Parameters<typeof makeDocument>[0]): TestDocument {
  const document = makeDocument(options);
  for (const [at, chunk] of document.chunks.entries()) Object.assign(chunk, { position: at + 1, status: "completed" });
  return document;
}

/** Adds a chunk after the last position, like the service. */
export function append(document: TestDocument, seed: number): void {
  const [chunk] = makeIndexed({ chunks: 1, seed, docForm: document.docForm }).chunks;
  const position = Math.max(0, ...document.chunks.map((other) => Number(other.position))) + 1;
  if (!chunk) return;
  document.chunks.push({ ...chunk, document_id: document.id, position });
  document.children.set(chunk.id, []);
}

export const idsOf = (rows: readonly { readonly id?: unknown }[]): unknown[] => rows.map(({ id }) => id);
