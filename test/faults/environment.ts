import { cp, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { jobFile, testFolder } from "../run/job-for.js";
import { addChunks, deleteChunks } from "../servers/edits.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { type CallKind, canInject, faultEnv } from "./fault-library.js";
import { type FileCall, readCalls } from "./file-calls.js";
import { type JobState, readState } from "./job-state.js";
import { type Ended, runProgram } from "./program.js";
import { hashesOf } from "./published-files.js";

/** The folders for one copy of the job's output. */
export interface Place {
  /** The `--out` folder; the program writes nowhere else. */
  readonly out: string;
  /** `output/<job>` */
  readonly job: string;
  /** The log file of the fault library. */
  readonly log: string;
}

/** A service and a job that ran once; the data has changed since. */
export interface Environment {
  readonly env: NodeJS.ProcessEnv;
  readonly earlierRun: string;
  /** The state that the earlier run left. */
  readonly before: JobState;
  readonly args: (place: Place) => readonly string[];
  /** Makes a new output folder that looks as the earlier run left it. */
  readonly newPlace: () => Promise<Place>;
}

/** A run over the current data without faults. */
export interface Undisturbed {
  /** The hash of each file, by its path in the run folder. */
  readonly hashes: ReadonlyMap<string, string>;
  /** How many milliseconds the run took. */
  readonly takes: number;
  /** The file calls of the requested kinds; empty if the fault library could not be built. */
  readonly calls: readonly FileCall[];
}

/** Files whose bytes are the same in every run over the same data. */
export const stableFiles = ["chunks.jsonl", "child_chunks.jsonl", "chunks.csv", "child_chunks.csv"];

/** A knowledge base with two documents of more than one page and a small one; after a first run, it is edited. */
export async function openEnvironment(): Promise<Environment> {
  const store = new Store();
  const documents = [
    makeDocument({ chunks: 130, seed: 1 }),
    makeDocument({ chunks: 105, seed: 2, docForm: "hierarchical_model", childrenPerChunk: 1 }),
    makeDocument({ chunks: 7, seed: 3, docForm: "qa_model" }),
  ] as const;
  const dataset = store.addDataset(...documents);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFile(folder, {
    service: { base_url: server.url, concurrency: 2 },
    datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id) }],
    child_chunks: "auto", // few requests, because the tests are about write calls
    output: { formats: ["jsonl", "csv", "duckdb"] },
  });
  const env = { KNOWLEDGE_API_KEY: server.key };
  const args = ({ out }: Place) => ["run", job, "--json", "--out", out];
  const first = placeIn(join(folder, "first"));
  await succeeds(runProgram("the earlier run", args(first), env));
  const [earlierRun = ""] = await readdir(join(first.job, "runs"));
  deleteChunks(documents[0], 3, 5);
  addChunks(documents[1], 2, { children: 1, seed: 99 });
  const newPlace = async () => {
    const place = placeIn(await mkdtemp(join(folder, "place-")));
    await cp(first.out, place.out, { recursive: true, verbatimSymlinks: true });
    return place;
  };
  return { env, earlierRun, before: await readState(first.job), args, newPlace };
}

function placeIn(folder: string): Place {
  const out = join(folder, "out");
  return { out, job: join(out, "test"), log: join(folder, "calls.log") };
}

/** Runs the job without faults and records its calls. */
export async function runUndisturbed(
  { env, args, newPlace }: Environment,
  kinds: readonly CallKind[] = [],
): Promise<Undisturbed> {
  const place = await newPlace();
  const count = canInject && kinds.length > 0;
  const more = count ? faultEnv({ folder: place.out, kinds, action: "count", log: place.log }) : {};
  const start = performance.now();
  await succeeds(runProgram("the undisturbed run", args(place), { ...env, ...more }));
  const takes = performance.now() - start;
  return { takes, hashes: await hashesOf(join(place.job, "latest/")), calls: await readCalls(place.log) };
}

async function succeeds(ending: Promise<Ended>): Promise<void> {
  const { code, stderr, name } = await ending;
  expect({ name, code, stderr: code === 0 ? "" : stderr }).toEqual({ name, code: 0, stderr: "" });
}
