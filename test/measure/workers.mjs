// Measures runs with workers: `npm run measure:workers [rounds]`. It needs redis-server or valkey-server on the PATH.
// The workers start first. Prints the seconds of the coordinator from start to end, and the processor time of all processes together,
// as medians of the rounds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runnerImport } from "vite";

const load = async (path) =>
  (await runnerImport(`${import.meta.dirname}/../${path}`, { configFile: false, logLevel: "error" })).module;
const { measure, withService } = await load("bench/measure.ts");
const { median } = await load("bench/median.ts");
const { datasetId, documentId } = await load("bench/dataset.ts");
const { neededRequests } = await load("bench/needed-requests.ts");
const { startRedis } = await load("servers/start-redis.ts");

const rounds = Number(process.argv[2] ?? 3);
const concurrency = 16;
const consistency = "counts";
const env = { KNOWLEDGE_API_KEY: "bench" };
const program = "dist/main.js";
const wide = { id: datasetId, documents: 96, chunks: 20, childLists: true, embedsChildren: false };
const small = { id: datasetId, documents: 2_000, chunks: 1, childLists: false, embedsChildren: false };
const long = { id: datasetId, documents: 8, chunks: 250, childLists: true, embedsChildren: false };

const quarter = ["--in-flight", String(concurrency / 4)];
const single = { name: "a single run", count: 0, args: [] };
const workers = (count, args = []) => ({
  name: [`${count} ${count === 1 ? "worker" : "workers"}`, ...args].join(" "),
  count,
  args,
});
const bounded = [1, 2, 4, 8].map((count) => workers(count, quarter));
const unbounded = [workers(1), workers(2)];
const cases = [
  { dataset: wide, latency: 50, ways: [single, ...bounded, ...unbounded] },
  { dataset: small, latency: 0, ways: [single, ...unbounded] },
  { dataset: small, latency: 50, ways: [single, ...unbounded] },
  { dataset: long, latency: 0, ways: [single, ...unbounded] },
];

const broker = await startRedis();
const scratch = await mkdtemp(join(tmpdir(), "kbdump-workers-"));
try {
  process.stdout.write("| read | latency | way | time | CPU of all | against a single run | requests/s |\n");
  for (const { dataset, latency, ways } of cases)
    await withService({ dataset, latency }, ({ origin }) => printLines(dataset, latency, ways, `${origin}/v1`));
} finally {
  await broker.stop();
  await rm(scratch, { recursive: true, force: true });
}

/** Measures all ways alternately, so that changes in this machine's load affect all of them. */
async function printLines(dataset, latency, ways, url) {
  await run(dataset, workers(1), url); // the first run with a queue waits for some seconds
  const runs = ways.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [at, way] of ways.entries()) runs[at].push(await run(dataset, way, url));
  const { documents, chunks, childLists } = dataset;
  const what = `${documents} x ${chunks} chunks${childLists ? " with child lists" : ""}`;
  const requests = neededRequests({ dataset, childChunks: childChunksOf(dataset), consistency });
  const walls = runs.map((each) => median(each.map(({ wall }) => wall)));
  for (const [at, { name }] of ways.entries()) {
    const cpu = median(runs[at].map((each) => each.cpu)).toFixed(1);
    const [wall, rate] = [walls[at].toFixed(1), Math.round(requests / walls[at])];
    const ratio = (walls[at] / walls[0]).toFixed(2);
    process.stdout.write(`| ${what} | ${latency} ms | ${name} | ${wall} s | ${cpu} s | ${ratio} | ${rate} |\n`);
  }
}

/** Does one run in a new folder. Throws if it did not read everything. */
async function run(dataset, { count, args }, url) {
  const dir = await mkdtemp(join(scratch, "run-"));
  const job = join(dir, "bench.json");
  const documents = Array.from({ length: dataset.documents }, (_, at) => documentId(at));
  await writeFile(
    job,
    JSON.stringify({
      service: { base_url: url, concurrency },
      datasets: [{ id: dataset.id, documents }],
      child_chunks: childChunksOf(dataset),
      details: false,
      consistency,
      output: { dir, formats: ["jsonl"] },
    }),
  );
  const helpers = Array.from({ length: count }, () => startWorker(job, args));
  if (count > 0) await sleep(2_000); // wait for the workers to start
  try {
    const flags = count > 0 ? ["--workers", broker.url] : [];
    const { wall, cpu, stdout } = await measure([program, "run", job, "--json", "--quiet", ...flags], env);
    const { status, counts } = JSON.parse(stdout.trim().split("\n").at(-1));
    if (status !== "complete" || counts.chunks !== dataset.documents * dataset.chunks)
      throw new Error(`${status}, ${counts.chunks} chunks`);
    const cpus = await Promise.all(helpers.map((end) => end()));
    return { wall, cpu: cpus.reduce((sum, each) => sum + each, cpu) };
  } finally {
    await Promise.all(helpers.map((end) => end()));
    await rm(dir, { recursive: true, force: true });
  }
}

/** Starts a worker. Returns a function that ends it, and resolves to its processor seconds. */
function startWorker(job, args) {
  const usage = `${import.meta.dirname}/../bench/usage.mjs`;
  const child = spawn(process.execPath, ["--import", usage, program, "worker", broker.url, job, "--quiet", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stdio[3].on("data", (data) => {
    text += data;
  });
  const ended = once(child, "close");
  return async () => {
    child.kill("SIGTERM");
    await ended;
    return JSON.parse(text).cpu;
  };
}

function childChunksOf({ childLists }) {
  return childLists ? "all" : "none";
}
