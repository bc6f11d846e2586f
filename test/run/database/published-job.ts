import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Compression } from "../../../src/files/compression.js";
import type { Job } from "../../../src/job/job.js";
import type { RunOptions } from "../../../src/job/open-service.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { runJob } from "../../../src/run/run-job.js";
import { query } from "../../database/query.js";
import { type RealisticServer, startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store, type TestDocument } from "../../servers/store.js";
import { jobFile, jobFor, testFolder } from "../job-for.js";

/** A job for a small server, and its output. */
export interface PublishedPlace {
  readonly server: RealisticServer;
  readonly job: Job;
  /** The path of the job file. */
  readonly file: string;
  /** `output/<job>` */
  readonly place: string;
  readonly documents: readonly TestDocument[];
  readonly warnings: string[];
  readonly run: (options?: RunOptions) => Promise<RunResult>;
  /** The run that `latest` points to. */
  readonly latest: () => Promise<string>;
  /** The ids in the table `runs`, oldest first. */
  readonly runsInDatabase: () => Promise<readonly unknown[]>;
}

/** Starts the server with two documents, which tests may edit. */
export async function startPublishedPlace(
  formats: readonly string[] = ["jsonl", "duckdb"],
  more: { readonly memory?: string; readonly compress?: Compression } = {},
): Promise<PublishedPlace> {
  const store = new Store();
  const documents = [1, 2].map((seed) => makeDocument({ chunks: 5, childrenPerChunk: 1, seed }));
  const dataset = store.addDataset(...documents);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const facts = {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id) }],
    output: { dir: join(folder, "out"), formats, ...more },
  };
  const [job, file] = [await jobFor(folder, facts), await jobFile(folder, facts)];
  const place = join(folder, "out", "test");
  const warnings: string[] = [];
  const log = (level: string, message: string) => void (level === "warn" && warnings.push(message));
  return {
    server,
    job,
    file,
    place,
    documents,
    warnings,
    run: (options = {}) => runJob(job, { env: { KNOWLEDGE_API_KEY: server.key }, log, ...options }),
    latest: async () => (await readlink(join(place, "latest"))).replace("runs/", ""),
    runsInDatabase: async () => (await query("SELECT run_id FROM runs ORDER BY 1", join(place, "test.duckdb"))).flat(),
  };
}
