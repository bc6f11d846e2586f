import { join } from "node:path";
import { type Client, openClient } from "../../src/client/open-client.js";
import type { Discovery } from "../../src/crawl/discovery.js";
import { csvText } from "../../src/dump/formats/csv.js";
import { jsonlText } from "../../src/dump/formats/jsonl.js";
import { checkJob } from "../../src/job/check-job.js";
import type { Job, Shard } from "../../src/job/job.js";
import { jobFromFile } from "../../src/job/load-job.js";
import { emptyRunProgress, type RunProgress } from "../../src/job/run-progress.js";
import { readEverything } from "../../src/run/read-everything.js";
import { FolderStore } from "../../src/store/folder/folder-store.js";
import type { Through } from "./outcome.js";
import type { Scenario } from "./scenario.js";
import { documentId } from "./service/ids.js";
import { type NetworkParts, simulatedHttp, simulatedTurn } from "./transport.js";

/** The environment of one process. */
export interface ProcessEnvironment extends NetworkParts {
  readonly folder: string;
  /** The folder of segments, inside `folder`. */
  readonly segments: string;
  readonly sabotage: Sabotage | undefined;
  /** The share that the process reads; undefined: everything. */
  readonly share?: Share;
}

/** A shard, and the list of documents that it was given. Undefined: the process asks the service. */
export interface Share {
  readonly shard: Shard;
  readonly given: Discovery | undefined;
}

/** Breaks the client or its headers, to test whether the judge detects it. */
export interface Sabotage {
  readonly client?: (client: Client) => Client;
  readonly headers?: (headers: NetworkParts["headers"]) => NetworkParts["headers"];
}

/** Does the reading part of a run, with the program's own client. */
export async function readAll(environment: ProcessEnvironment): Promise<Through> {
  const { scenario, clock, folder, segments } = environment;
  const sabotage = environment.sabotage?.client ?? ((client: Client) => client);
  const progress = emptyRunProgress();
  const client = clientOf(environment, progress);
  const job = { ...jobOf(scenario, environment.service.knowledge.dataset.id), shard: environment.share?.shard };
  const formats = [jsonlText, csvText(false)].filter(({ format }) =>
    scenario.job.formats.some((name) => name === format),
  );
  const database = join(folder, "db");
  const folders = {
    folder,
    above: [],
    database,
    shownDatabase: database,
    runs: folder,
    private: folder,
    waiting: folder,
  };
  const run = {
    runId: "run",
    startedAt: new Date(0),
    work: folder,
    segments,
    stage: folder,
    scratch: folder,
    own: folder,
    lost: new AbortController().signal,
  };
  const now = () => new Date(clock.now);
  const options = {
    job,
    formats,
    workspace: { ...folders, ...run, store: new FolderStore({ ...folders, own: folder }) },
    progress,
    now,
    log: () => {},
    retryFailed: false,
    given: environment.share?.given,
    ...noFiles,
  };
  try {
    return { reading: await readEverything(sabotage(client), options), progress };
  } finally {
    await client.close();
  }
}

/** Jobs of the simulation never save originals. */
const noFiles = {
  baseUrl: "",
  connecting: { baseUrl: "", key: "", connections: 1, timeout: 1, env: {} },
};

/** Creates the client of a process. */
export function clientOf(environment: ProcessEnvironment, progress: RunProgress): Client {
  const { scenario, clock, life, random, report } = environment;
  const { concurrency, maxRps, timeout, retries } = scenario.job;
  return openClient({
    baseUrl: "http://kb.example/v1",
    key: "dataset-key",
    concurrency,
    maxRps,
    timeout,
    retries,
    signal: life.signal,
    progress: progress.requests,
    onRetry: (_, wait) => report(`${life.number} waits ${wait.toFixed(0)} ms for the next try`),
    environment: {
      openHttp: simulatedHttp(environment),
      now: () => clock.now,
      sleep: (milliseconds, signal) => clock.sleep(milliseconds, life, signal),
      random,
      turn: simulatedTurn(clock, life, random),
    },
  });
}

/** The job that all processes of a scenario share. */
export function jobOf({ job, documents }: Scenario, dataset: string): Job {
  const named = documents.map((_, index) => documentId(index));
  const file = {
    name: "simulation",
    service: { base_url: "http://127.0.0.1/v1" },
    datasets: [{ id: dataset, documents: job.documents === "all" ? "all" : named }],
    details: false,
    child_chunks: job.childChunks,
    consistency: job.consistency,
    output: { formats: ["jsonl"] },
  };
  const checked = checkJob(file, file).file;
  if (!checked) throw new Error("the job of the simulation does not fit the schema");
  const made = jobFromFile(checked, []);
  return { ...made, service: { ...made.service, concurrency: job.concurrency } };
}
