// Measures runs with workers: `npm run measure:workers [rounds]`. It needs redis-server or valkey-server on the PATH.
// Prints the seconds of the coordinator from its start to its end, while the workers wait for it already: medians of the rounds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runnerImport } from "vite";

const bring = async (path) =>
  (await runnerImport(`${import.meta.dirname}/../${path}`, { configFile: false, logLevel: "error" })).module;
const { measure, withServer } = await bring("bench/measure.ts");
const { datasetId, documentId, requestsOf } = await bring("bench/dataset.ts");
const { startRedis } = await bring("servers/start-redis.ts");

const rounds = Number(process.argv[2] ?? 3);
const concurrency = 16;
const env = { KNOWLEDGE_API_KEY: "bench" };
const program = "dist/main.js";
const wide = { id: datasetId, documents: 96, chunks: 20, childLists: true };
const small = { id: datasetId, documents: 2_000, chunks: 1, childLists: false };
const long = { id: datasetId, documents: 8, chunks: 250, childLists: true };

const quarter = ["--in-flight", String(concurrency / 4)];
const single = { name: "a single run" };
const workers = (count, args = []) => ({
  name: `${count} workers${args.length > 0 ? `, ${args.join(" ")}` : ""}`,
  count,
  args,
});
const cases = [
  {
    dataset: wide,
    latency: 50,
    ways: [single, workers(1, quarter), workers(2, quarter), workers(4, quarter), workers(1)],
  },
  { dataset: wide, latency: 50, ways: [workers(8, quarter)] },
  { dataset: small, latency: 0, ways: [single, workers(1), workers(2)] },
  { dataset: long, latency: 0, ways: [single, workers(1), workers(2)] },
];

const broker = await startRedis();
const scratch = await mkdtemp(join(tmpdir(), "kbdump-workers-"));
try {
  process.stdout.write("| read | latency | way | wall | CPU of the coordinator | requests/s |\n");
  for (const { dataset, latency, ways } of cases)
    await withServer({ dataset, latency }, async (url) => {
      for (const way of ways) await printLine(dataset, latency, way, url);
    });
} finally {
  await broker.stop();
  await rm(scratch, { recursive: true, force: true });
}

async function printLine(dataset, latency, way, url) {
  const runs = [];
  for (let round = 0; round < rounds; round++) runs.push(await run(dataset, way, url));
  const [wall, cpu] = ["wall", "cpu"].map((name) => median(runs.map((each) => each[name])));
  const { documents, chunks, childLists } = dataset;
  const what = `${documents} x ${chunks} chunks${childLists ? " with child lists" : ""}`;
  const rate = Math.round(requestsOf(dataset) / wall);
  process.stdout.write(
    `| ${what} | ${latency} ms | ${way.name} | ${wall.toFixed(2)} s | ${cpu.toFixed(2)} s | ${rate} |\n`,
  );
}

/** One run, in a folder of its own. Throws where it did not read everything. */
async function run(dataset, { count, args }, url) {
  const dir = await mkdtemp(join(scratch, "run-"));
  const job = join(dir, "bench.json");
  const documents = Array.from({ length: dataset.documents }, (_, at) => documentId(at));
  await writeFile(
    job,
    JSON.stringify({
      service: { base_url: url, concurrency },
      datasets: [{ id: dataset.id, documents }],
      child_chunks: dataset.childLists ? "all" : "none",
      consistency: "counts",
      output: { dir, formats: ["jsonl"] },
    }),
  );
  const helpers = Array.from({ length: count ?? 0 }, () =>
    spawn(process.execPath, [program, "worker", broker.url, job, "--quiet", ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit"],
    }),
  );
  if (helpers.length > 0) await sleep(1_500); // they start
  try {
    const measured = await measure(
      [program, "run", job, "--json", "--quiet", ...(count ? ["--workers", broker.url] : [])],
      env,
    );
    const { status, counts } = JSON.parse(measured.stdout.trim().split("\n").at(-1));
    if (status !== "complete" || counts.chunks !== dataset.documents * dataset.chunks)
      throw new Error(`${status}, ${counts.chunks} chunks`);
    return measured;
  } finally {
    for (const helper of helpers) {
      const ended = once(helper, "exit");
      helper.kill("SIGTERM");
      await ended;
    }
    await rm(dir, { recursive: true, force: true });
  }
}

function median(values) {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
}
