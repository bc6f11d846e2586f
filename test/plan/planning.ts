import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type PlanOptions, planJob } from "../../src/plan/plan-job.js";
import type { JobPlan } from "../../src/plan/plan-result.js";
import type { RunResult } from "../../src/run/make-run.js";
import { runJob } from "../../src/run/run-job.js";
import { jobFor, testFolder } from "../run/job-for.js";
import type { Behaviour } from "../servers/behaviour.js";
import { type RealisticServer, startRealisticServer } from "../servers/realistic-server.js";
import { Store, type TestDataset, type TestDocument } from "../servers/store.js";

/** A server with one dataset of these documents, and a job that names them all. */
export interface Place {
  readonly server: RealisticServer;
  readonly dataset: TestDataset;
  readonly folder: string;
  readonly plan: (more?: PlaceOptions) => Promise<JobPlan>;
  readonly run: (more?: PlaceOptions) => Promise<RunResult>;
}

interface PlaceOptions {
  /** Overrides keys of the job file. */
  readonly job?: Record<string, unknown>;
  readonly service?: Record<string, unknown>;
  readonly options?: PlanOptions;
}

export async function startPlace(documents: TestDocument[], behaviour: Behaviour = {}): Promise<Place> {
  const store = new Store();
  const dataset = store.addDataset(...documents);
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const env = { KNOWLEDGE_API_KEY: server.key };
  const job = ({ job: more, service }: PlaceOptions) =>
    jobFor(folder, {
      service: { base_url: server.url, retries: 0, ...service },
      datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id), batches: [...dataset.batches.keys()] }],
      output: { dir: join(folder, "out"), formats: ["jsonl"] },
      ...more,
    });
  return {
    server,
    dataset,
    folder,
    plan: async (more = {}) => planJob(await job(more), { env, ...more.options }),
    run: async (more = {}) => runJob(await job(more), { env }),
  };
}
