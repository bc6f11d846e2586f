import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StopError, UsageError } from "../../src/errors.js";
import { runJob } from "../../src/run/run-job.js";
import { inFull } from "../rounds.js";
import { rawNumber } from "../servers/json.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFor, testFolder } from "./job-for.js";
import { query, readJsonl } from "./read-dump.js";

const absent = "00000000-0000-4000-8000-00000000dead";

async function startPlace(formats = ["jsonl"]) {
  const store = new Store();
  const [first, second] = [
    makeDocument({ chunks: 130, seed: 1, childrenPerChunk: 2 }),
    makeDocument({ chunks: 20, seed: 2 }),
  ];
  const dataset = store.addDataset(first, second);
  const behaviour = { documentError: new Map() };
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const run = async (documents: readonly string[], more: Record<string, unknown> = {}, key = server.key) => {
    const service = { base_url: server.url, retries: 0 };
    const datasets = [{ id: dataset.id, documents, ...more }];
    const output = { dir: join(folder, "out"), formats };
    return runJob(await jobFor(folder, { service, datasets, output }), { env: { KNOWLEDGE_API_KEY: key } });
  };
  return { dataset, first, second, behaviour, server, job: join(folder, "out", "test"), run };
}

const stateOf = (database: string) =>
  query(
    "SELECT document_id, run_id, (SELECT count(*) FROM chunks c WHERE c.document_id = d.document_id AND c.run_id = d.run_id) AS chunks FROM documents d ORDER BY ALL",
    database,
  );

test("a missing document: the others are published, and documents and manifest contain the reason", async () => {
  const { run, first } = await startPlace();
  const { manifest, folder } = await run([absent, first.id]);
  expect(manifest.status).toBe("partial");
  const [failed, read] = await readJsonl(folder, "documents");
  expect(failed).toMatchObject({
    document_id: absent,
    status: "failed",
    total: null,
    chunk_count: 0,
    child_chunk_count: 0,
  });
  expect(failed?.error).toMatch(/^GET http.*: 404 not_found Document not found/);
  expect(read).toMatchObject({
    document_id: first.id,
    status: "complete",
    total: 130,
    chunk_count: 130,
    child_chunk_count: 260,
    sweeps: 2,
    error: null,
  });
  expect(manifest.documents).toEqual([failed, read]);
  expect(manifest.warnings).toEqual([`document ${absent} failed: ${failed?.error}`]);
  expect(await readJsonl(folder, "chunks")).toHaveLength(130);
});

test.runIf(inFull)(
  "a document that starts to fail keeps its rows in the database, and latest does not move",
  async () => {
    const { run, first, second, behaviour, job } = await startPlace(["jsonl", "duckdb"]);
    const before = await run([first.id, second.id]);
    const database = join(job, "test.duckdb");
    const state = await stateOf(database);
    expect(state.map(({ chunks }) => Number(chunks)).sort()).toEqual([130, 20].sort());

    const error = { code: "provider_not_initialize", message: "No Embedding Model available.", status: 400 };
    behaviour.documentError.set(first.id, { status: 400, body: error });
    const after = await run([first.id, second.id]);

    expect(after.manifest.status).toBe("partial");
    expect(after.manifest.documents[0]?.error).toContain(
      "400 provider_not_initialize No Embedding Model available; configure",
    );
    expect(await readlink(join(job, "latest"))).toBe(`runs/${before.manifest.run_id}`);
    expect((await readdir(join(job, "runs"))).length).toBe(2);
    const runs = new Map((await stateOf(database)).map((row) => [row.document_id, row]));
    expect(runs.get(first.id)).toEqual(state.find((row) => row.document_id === first.id));
    expect(runs.get(second.id)).toMatchObject({ run_id: after.manifest.run_id, chunks: "20" });
    expect(await query("SELECT run_id, status FROM runs ORDER BY run_id", database)).toEqual([
      { run_id: before.manifest.run_id, status: "complete" },
      { run_id: after.manifest.run_id, status: "partial" },
    ]);
  },
);

test.runIf(inFull)("documents that are not part of a run keep their rows", async () => {
  const { run, first, second, job } = await startPlace(["jsonl", "duckdb"]);
  const before = await run([first.id]);
  const after = await run([second.id]);
  const state = await stateOf(join(job, "test.duckdb"));
  expect(state).toHaveLength(2);
  expect(state).toContainEqual({ document_id: first.id, run_id: before.manifest.run_id, chunks: "130" });
  expect(state).toContainEqual({ document_id: second.id, run_id: after.manifest.run_id, chunks: "20" });
});

test("a wrong key stops at once and publishes nothing", async () => {
  const { run, first, second, server, job } = await startPlace();
  const many = Array.from({ length: 50 }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`);
  const failed = run([first.id, second.id, ...many], {}, "dataset-of-somebody-else");
  await expect(failed).rejects.toThrow(StopError);
  await expect(failed).rejects.toThrow(/the service does not accept the key .*\(401 unauthorized /);
  expect(server.requests.length).toBeLessThanOrEqual(8);
  expect(await readdir(join(job, "runs"))).toEqual([]);
});

test("a job without any readable document publishes nothing and says why", async () => {
  const { run, job } = await startPlace();
  await expect(run([absent])).rejects.toThrow(/^document 0{8}.* could not be read: GET .*404 not_found/);
  expect(await readdir(join(job, "runs"))).toEqual([]);
  expect(await readdir(join(job, ".work"))).toEqual(["indexing_status"]);
});

test("a missing batch makes the run partial; everything else is published", async () => {
  const { run, first } = await startPlace();
  const { manifest } = await run([first.id], { batches: ["20250306"] });
  expect(manifest.status).toBe("partial");
  expect(manifest.warnings).toEqual([expect.stringMatching(/^indexing status of batch "20250306": .*404 not_found/)]);
  expect(manifest.documents[0]?.status).toBe("complete");
});

test("without a key nothing is asked and nothing is made", async () => {
  const { run, first, server, job } = await startPlace();
  await expect(run([first.id], {}, "")).rejects.toThrow(UsageError);
  expect(server.requests).toEqual([]);
  await expect(stat(job)).rejects.toThrow("ENOENT");
});

test("error texts from the service are redacted before they are written", async () => {
  const { run, first, second, behaviour, server } = await startPlace();
  const message = `bad token ${server.key}\u001b[31m red\nline`;
  behaviour.documentError.set(first.id, { status: 403, body: { code: "forbidden", message, status: 403 } });
  const { manifest, folder } = await run([first.id, second.id]);
  expect(manifest.documents[0]?.error).toContain("403 forbidden bad token [key] [31m red line; is API access on");
  const text = await readFile(join(folder, "manifest.json"), "utf8");
  expect(text).not.toContain(server.key);
});

test("a record that is nested too deeply fails its document, and not the others", async () => {
  const { run, first, second } = await startPlace();
  const chunk = first.chunks[3];
  if (chunk) chunk.summary = rawNumber(`${"[".repeat(20_000)}${"]".repeat(20_000)}`);
  const { manifest } = await run([first.id, second.id]);
  expect(manifest.documents.map(({ status }) => status)).toEqual(["failed", "complete"]);
  expect(manifest.documents[0]?.error).toBe("a record is nested too deeply to be written");
});

test.runIf(inFull)("documents that are never answered fail, and do not stop the others", async () => {
  const { first, second, server, dataset, job: place } = await startPlace();
  server.behaviour.faults = ({ path }) => (path.includes(second.id) ? { kind: "hang" } : undefined);
  const folder = join(place, "..", "..");
  const job = await jobFor(folder, {
    service: { base_url: server.url, retries: 0, timeout: 1, concurrency: 1 },
    datasets: [{ id: dataset.id, documents: [first.id, second.id] }],
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
  });
  const { manifest } = await runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
  expect(manifest.documents.map(({ status }) => status)).toEqual(["complete", "failed"]);
  expect(manifest.documents[1]?.error).toContain("no complete answer within 1 s");
});
