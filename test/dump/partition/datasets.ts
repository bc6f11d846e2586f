import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { RunOptions } from "../../../src/job/open-service.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { runJob } from "../../../src/run/run-job.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import type { Behaviour } from "../../servers/behaviour.js";
import { type RealisticServer, startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store, type TestDataset } from "../../servers/store.js";

export type Partition = "none" | "dataset";
export const fileFormats = ["jsonl", "csv", "parquet"] as const;

/** A server with several datasets, and a function to dump them. */
export interface DatasetsPlace {
  readonly server: RealisticServer;
  readonly folder: string;
  /** Runs a job for this kind of partition in `<folder>/<partition>`, by default with a fixed time. */
  readonly run: (
    partition: Partition,
    more?: Readonly<Record<string, unknown>>,
    options?: RunOptions,
  ) => Promise<RunResult>;
  /** The job folder of these runs. */
  readonly place: (partition: Partition) => string;
}

const moment = new Date("2026-11-20T02:00:00.123Z");

/** Starts the server for this store; closes it when the test ends. */
export async function startDatasets(store: Store, behaviour: Behaviour = {}): Promise<DatasetsPlace> {
  const place = await openDatasets(store, behaviour, await testFolder());
  onTestFinished(() => place.server.close());
  return place;
}

/** Starts the server with an existing folder; the caller closes it. */
export async function openDatasets(store: Store, behaviour: Behaviour, folder: string): Promise<DatasetsPlace> {
  const server = await startRealisticServer(store, behaviour);
  const run: DatasetsPlace["run"] = async (partition, { output, ...more } = {}, options = {}) => {
    const dir = join(folder, partition);
    const job = await jobFor(folder, {
      service: { base_url: server.url, retries: 0 },
      datasets: "all",
      output: { dir, partition, formats: fileFormats, ...(typeof output === "object" ? output : {}) },
      ...more,
    });
    return runJob(job, { env: { KNOWLEDGE_API_KEY: server.key }, now: () => moment, ...options });
  };
  return { server, folder, run, place: (partition) => join(folder, partition, "test") };
}

/** Adds a dataset with this id. */
export function addDataset(store: Store, id: string, ...documents: ReturnType<typeof makeDocument>[]): TestDataset {
  const held = new Map(documents.map((document) => [document.id, document]));
  const dataset = { id, name: `Dataset ${id}`, documents: held, batches: new Map() };
  store.datasets.set(id, dataset);
  return dataset;
}

/** The ids of the datasets in `threeDatasets`. */
export const ids = {
  full: "0b7f9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f",
  empty: "1c7f9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f",
  odd: "a b=ü%'[*]",
};

/** Three documents, one of them with child chunks; one document without chunks; a dataset whose id is not a UUID. */
export function threeDatasets() {
  const store = new Store();
  const documents = [
    makeDocument({ chunks: 12, seed: 1 }),
    makeDocument({ chunks: 5, seed: 2, docForm: "hierarchical_model", childrenPerChunk: 3 }),
    makeDocument({ chunks: 2, seed: 3, docForm: "qa_model" }),
  ] as const;
  addDataset(store, ids.full, ...documents);
  addDataset(store, ids.empty, makeDocument({ chunks: 0, seed: 4 }));
  addDataset(store, ids.odd, makeDocument({ chunks: 3, seed: 5, childrenPerChunk: 1 }));
  return { store, documents };
}
