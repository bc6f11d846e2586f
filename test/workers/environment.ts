import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { runKbdump } from "../cli/run-kbdump.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { type RealisticServer, startRealisticServer } from "../servers/realistic-server.js";
import { startRedis, type TestBroker } from "../servers/start-redis.js";
import { makeDocument, Store } from "../servers/store.js";
import { openSeat, type SeatOfProcess } from "./seat.js";

/** A service, a broker, and a job that a run without workers has already read. */
export interface Environment {
  readonly server: RealisticServer;
  readonly broker: TestBroker;
  /** The folder of the job in its output folder. */
  readonly place: string;
  /** The rows of the run without workers, by file name. */
  readonly expected: ReadonlyMap<string, string>;
  readonly startCoordinator: (...flags: readonly string[]) => SeatOfProcess;
  readonly startWorker: () => SeatOfProcess;
}

const concurrency = 6;
const rowFiles = ["chunks.jsonl", "child_chunks.jsonl", "documents.jsonl"];

/** Starts the environment. One document has 130 chunks, the others about 12; every chunk has a child list that must be read. */
export async function startEnvironment(documents: number, latency: number): Promise<Environment> {
  const store = new Store();
  const made = Array.from({ length: documents }, (_, at) =>
    makeDocument({
      ...{ chunks: at === 3 ? 130 : 1 + ((at * 7) % 24), seed: at + 1, childrenPerChunk: (chunk) => chunk % 3 },
      docForm: at % 2 === 0 ? "text_model" : "hierarchical_model",
    }),
  );
  const datasets = [store.addDataset(...made.slice(0, 3)), store.addDataset(...made.slice(3))];
  const server = await startRealisticServer(store, { latency, resign: false });
  onTestFinished(() => server.close());
  const broker = await startRedis();
  onTestFinished(() => broker.stop());
  const folder = await testFolder();
  const job = await jobFile(folder, {
    service: { base_url: server.url, concurrency },
    datasets: datasets.map(({ id }) => ({ id, documents: "all" })),
    child_chunks: "all",
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
  });
  const env = { KNOWLEDGE_API_KEY: server.key };
  const single = await runKbdump(["run", job, "--quiet", "--out", join(folder, "single")], env);
  expect(single).toMatchObject({ code: 0, stderr: "" });
  const open = (args: readonly string[]) => {
    const seat = openSeat(args, env);
    onTestFinished(async () => void (await seat.end("SIGKILL")));
    return seat;
  };
  return {
    ...{ server, broker },
    place: join(folder, "out", "test"),
    expected: await rowsIn(join(folder, "single", "test", "latest")),
    startCoordinator: (...flags) => open(["run", job, "--workers", broker.url, ...flags]),
    startWorker: () => open(["worker", broker.url, job, "--quiet"]),
  };
}

/**
 * Expects that all processes together never exceeded the job's limits for requests in flight and open connections. A stalled process
 * keeps its connections open while others open theirs, so each allows as many again.
 */
export function expectBounded({ server }: Environment, label: string, stalled = 0): void {
  expect(server.maxInFlight, `${label}: requests in flight`).toBeLessThanOrEqual(concurrency);
  expect(server.maxConnections, `${label}: connections`).toBeLessThanOrEqual(concurrency * (1 + stalled));
}

async function rowsIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const read = async (name: string) => [name, await readFile(join(folder, name), "utf8")] as const;
  return new Map(await Promise.all(rowFiles.map(read)));
}

/** Expects that every run of the job has the rows of the run without workers, and that no work files are left. */
export async function expectAsSingle({ place, expected }: Environment, label: string): Promise<void> {
  const runs = await readdir(join(place, "runs"));
  expect(runs.length, label).toBeGreaterThan(0);
  for (const run of runs) expect(await rowsIn(join(place, "runs", run)), `${label}, ${run}`).toEqual(expected);
  const work = join(place, ".work");
  expect(
    (await readdir(work)).filter((name) => name !== "exchange"),
    label,
  ).toEqual(["indexing_status"]);
  expect(await readdir(join(work, "exchange")).catch(() => []), label).toEqual([]);
}

/** Removes everything that a round made. */
export async function clearEnvironment({ place, server }: Environment): Promise<void> {
  await rm(place, { recursive: true, force: true });
  server.reset();
}
