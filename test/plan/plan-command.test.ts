import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { runHere } from "../cli/run-here.js";
import { finished, startKbdump } from "../cli/run-kbdump.js";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import type { Behaviour } from "../servers/behaviour.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store, type TestDocument } from "../servers/store.js";

async function startPlace(documents: TestDocument[], behaviour: Behaviour = {}) {
  const store = new Store();
  const dataset = store.addDataset(...documents);
  dataset.batches.set(
    "2025",
    documents.map(({ id }) => makeStatusEntry(id)),
  );
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFile(folder, {
    service: { base_url: server.url, retries: 0 },
    datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id), batches: ["2025"] }],
    output: { dir: `${folder}/out`, formats: ["jsonl"] },
  });
  return { server, folder, job, env: { KNOWLEDGE_API_KEY: server.key } };
}

const shapes = () => [
  makeDocument({ chunks: 0, seed: 1 }),
  makeDocument({ chunks: 1, seed: 2, childrenPerChunk: 250 }),
  makeDocument({ chunks: 100, seed: 3 }),
  makeDocument({ chunks: 101, seed: 4, childrenPerChunk: 2 }),
  makeDocument({
    chunks: 250,
    seed: 5,
    docForm: "hierarchical_model",
    childrenPerChunk: (at) => (at % 40 === 7 ? 201 : 1),
  }),
];

test.runIf(inFull)("plan forecasts the requests of a run, and writes nothing", { timeout: 120_000 }, async () => {
  const { job, env, folder, server } = await startPlace(shapes(), { hasMore: "rows-equal-limit" });
  const planned = await runHere(["plan", job, "--json", "--quiet"], env);
  expect(planned).toMatchObject({ code: 0, stderr: "" });
  const plan = JSON.parse(planned.stdout);
  expect(plan.asked.sent).toBe(server.requests.length);
  expect(server.requests.every(({ method }) => method === "GET")).toBe(true);

  const flags = ["--format", "jsonl", "--consistency", "counts", "--child-chunks", "all", "--max-rps", "5000"];
  const { code, stdout, stderr } = await runHere(["plan", job, ...flags], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const line of [
    /^test: 5 documents, 452 chunks, about [\d,]+ child chunks\n\nchild_chunks +requests\n/,
    /^all \(this job\) +4\d\d$/m,
    /^none +11$/m,
    /^ {2}time: at least [\d.]+ s \(a page of chunks takes [\d.]+ ms, a child list [\d.]+ ms\)$/m,
    /^ {2}disk: [\d.]+ MB during the run, [\d.]+ MB afterwards; [\d.]+ [MGT]B free in /m,
    /^ {2}this plan: \d+ requests in [\d.]+ s, .* received; nothing written$/m,
    /^[-0-9a-f]{36} {2}text_model +0 +0 +1$/m,
    /^this service\n {2}embedded_children: [^\n]+\n {4}→ child_chunks: auto /m,
  ])
    expect(stdout).toMatch(line);
  expect(stdout).not.toContain("\u001b");
  expect(await readdir(folder)).toEqual(["job.yaml"]);

  const run = JSON.parse((await runHere(["run", job, "--json", "--quiet"], env)).stdout);
  expect(Math.abs(plan.requests.this_job / run.requests.sent - 1)).toBeLessThan(0.03);
  expect(plan.counts).toMatchObject({ batches: 1, documents: 5, documents_failed: 0, chunks: run.counts.chunks });
});

test("documents that cannot be asked are named, the others planned: exit 3", async () => {
  const [good, bad] = [makeDocument({ chunks: 3 }), makeDocument({ chunks: 1, seed: 9 })];
  const body = { code: "x", message: "\u001b[31mred\u0007", status: 400 };
  const { job, env } = await startPlace([good, bad], { documentError: new Map([[bad.id, { status: 400, body }]]) });
  const { code, stdout } = await runHere(["plan", job], env);
  expect(code).toBe(3);
  expect(stdout).toMatch(/^test: 2 documents \(1 cannot be read\), 3 chunks/);
  expect(stdout).toMatch(
    new RegExp(`^warning: document ${bad.id} cannot be read: 400 x .*red.* \\(GET http\\S+\\)$`, "m"),
  );
  expect(stdout).not.toContain("\u001b");
  expect(stdout).not.toContain("\u0007");
});

test("a wrong key: exit 1, and what to do", async () => {
  const { job, folder } = await startPlace([makeDocument({ chunks: 2 })]);
  const env = { KNOWLEDGE_API_KEY: "dataset-wrong" };
  const { code, stdout, stderr } = await runHere(["plan", job, "--json"], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^kbdump: the service does not accept the key from the variable KNOWLEDGE_API_KEY \(401 unauthorized .*\); .* \(GET .*\)\n$/,
  );
  expect(JSON.parse(stdout)).toMatchObject({ status: "failed", exit_code: 1 });
  expect(stdout + stderr).not.toContain("dataset-wrong");
  expect(await readdir(folder)).toEqual(["job.yaml"]);
});

test.runIf(inFull)("SIGINT ends a plan at once, and leaves nothing", async () => {
  const { job, env, folder, server } = await startPlace([makeDocument({ chunks: 50 })], { latency: 60_000 });
  const plan = startKbdump(["plan", job], env);
  const ended = finished(plan);
  await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
  plan.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130, stdout: "" });
  expect(await readdir(folder)).toEqual(["job.yaml"]);
});

test("--help has an example and the exit codes", async () => {
  const { code, stdout } = await runHere(["plan", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toContain("kbdump plan nightly.yaml --json");
  expect(stdout).toMatch(/Exit codes: 0 .* 1 .* 2 .*3 /s);
});

test.runIf(inFull)("documents that the service lists are planned by name, and the run says which failed", async () => {
  const [good, bad] = [makeDocument({ chunks: 3 }), makeDocument({ chunks: 1, seed: 9 })];
  const body = { code: "x", message: "no", status: 400 };
  const { job, env } = await startPlace([good, bad], { documentError: new Map([[bad.id, { status: 400, body }]]) });
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets[0].documents = "all";
  await writeFile(job, JSON.stringify(text));
  const { stdout } = await runHere(["plan", job], env);
  expect(stdout).toMatch(/^document +form +chunks +child chunks +requests {2}id$/m);
  expect(stdout).toContain(`\n"${good.name}"  text_model `);
  expect(stdout).toContain(`warning: document "${bad.name}" (${bad.id}) cannot be read: 400 `);
  const plan = JSON.parse((await runHere(["plan", job, "--json", "--quiet"], env)).stdout);
  const names = plan.documents.map((one: Record<string, unknown>) => [one.dataset_name, one.document_name]);
  expect(names).toEqual([bad, good].map(({ name }) => ["Knowledge 1", name]));
  const run = JSON.parse((await runHere(["run", job, "--json", "--quiet"], env)).stdout);
  expect(run.incomplete_documents).toMatchObject([
    { dataset_name: "Knowledge 1", document_id: bad.id, document_name: bad.name },
  ]);
});

test.runIf(inFull)(
  "--documents-out writes the list of documents, or nothing if it would be incomplete: exit 1",
  async () => {
    const { job, env, folder, server } = await startPlace([
      makeDocument({ chunks: 3 }),
      makeDocument({ chunks: 1, seed: 2 }),
    ]);
    const text = JSON.parse(await readFile(job, "utf8"));
    text.datasets[0].documents = "all";
    await writeFile(job, JSON.stringify(text));
    const list = `${folder}/list.json`;
    const planned = await runHere(["plan", job, "--documents-out", list], env);
    expect(planned.code).toBe(0);
    expect(planned.stdout).toContain(`the list of documents is in ${list}`);
    const { tool, job: name, base_url, datasets, rows } = JSON.parse(await readFile(list, "utf8"));
    expect([tool.name, name, base_url, datasets[0].state, datasets[0].documents.length, rows.length]).toEqual([
      ...["kbdump", "test", server.url],
      ...["listed", 2, 2],
    ]);
    const read = await runHere(["run", job, "--documents-from", list, "--json", "--quiet"], env);
    expect(JSON.parse(read.stdout)).toMatchObject({ status: "complete", counts: { documents: 2 }, shard: null });
    const part = await runHere(["run", job, "--shard", "2/2", "--json", "--quiet"], env);
    expect(JSON.parse(part.stdout)).toMatchObject({ status: "complete", shard: { index: 2, count: 2 } });

    const json = await runHere(["plan", job, "--documents-out", list, "--json", "--quiet"], env);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "complete", documents_out: list });
    await rm(list);
    text.datasets.push({ id: "00000000-0000-4000-8000-00000000dead", documents: "all" });
    await writeFile(job, JSON.stringify(text));
    const refused = await runHere(["plan", job, "--documents-out", list, "--quiet"], env);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      /^kbdump: no list of documents was written, because it would be incomplete: the documents of dataset 00000000-0000-4000-8000-00000000dead cannot be listed: /,
    );
    expect((await readdir(folder)).sort()).toEqual(["job.yaml", "out"]);
  },
);
