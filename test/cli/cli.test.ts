import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../servers/store.js";
import { runHere } from "./run-here.js";
import { finished, runKbdump, startKbdump } from "./run-kbdump.js";

const absent = "00000000-0000-4000-8000-00000000dead";

async function startPlace(more: { service?: object; formats?: string[]; chunks?: number; latency?: number } = {}) {
  const store = new Store();
  const document = makeDocument({ chunks: more.chunks ?? 12, childrenPerChunk: 1 });
  const dataset = store.addDataset(document);
  dataset.batches.set("2025", [
    makeStatusEntry(document.id),
    makeStatusEntry(absent, { indexing_status: "error", error: "no \u001b[31mred" }),
  ]);
  const server = await startRealisticServer(store, { latency: more.latency ?? 0 });
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFile(folder, {
    service: { base_url: server.url, retries: 0, ...more.service },
    datasets: [{ id: dataset.id, documents: [document.id], batches: ["2025"] }],
    output: { formats: more.formats ?? ["jsonl"] },
  });
  return { server, dataset, document, folder, job, env: { KNOWLEDGE_API_KEY: server.key } };
}

test("run: 0, the summary on stdout, commands that work unchanged", async () => {
  const { job, env, folder, document } = await startPlace({ formats: ["jsonl", "duckdb"], chunks: 110 });
  const { code, stdout, stderr } = await runKbdump(["run", job], env, folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /^complete: 1 document, 110 chunks, 110 child chunks\nin \d+\.\d s with 117 requests, [\d.]+ kB received\n/,
  );
  const [, next = ""] = /^ {2}(node .*dist\/main\.js sql out\/test\/test\.duckdb .*)$/m.exec(stdout) ?? [];
  const pasted = await finished(spawn("sh", ["-c", next], { cwd: folder }));
  expect([pasted.code, pasted.stderr]).toEqual([0, ""]);
  expect(pasted.stdout).toMatch(new RegExp(`^document +chunks\n${document.id} +110\n\n1 row\n$`));
  const [, look = ""] = /^ {2}(node .*dist\/main\.js report out\/test\/runs\/\S+)$/m.exec(stdout) ?? [];
  expect((await finished(spawn("sh", ["-c", `${look} --no-verify`], { cwd: folder }))).code).toBe(0);
  expect(stdout).not.toContain("\u001b");
});

test("run --json: one JSON object as the last line, and nothing else on stdout", async () => {
  const { job, env } = await startPlace();
  const { code, stdout } = await runHere(["run", job, "--json", "--quiet"], env);
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({
    status: "complete",
    job: "test",
    counts: { chunks: 12, child_chunks: 12 },
    requests: { sent: 16, retried: 0 },
    child_lists: { asked: 12, embedded: 0, skipped: 0, empty: 0, auto_saves: 0, auto_misses: 0 },
    incomplete_documents: [],
  });
});

test("run with flags only, which name the job after its dataset", async () => {
  const { server, dataset, document, folder, env } = await startPlace();
  const where = ["--base-url", server.url, "--dataset", dataset.id, "--document", document.id, "--batch", "2025"];
  const { code } = await runHere(
    ["run", ...where, "--format", "csv", "--child-chunks", "none", "--out", join(folder, "flags")],
    env,
  );
  expect(code).toBe(0);
  const runs = join(folder, "flags", dataset.id, "runs");
  const [run = ""] = await readdir(runs);
  expect((await readdir(join(runs, run))).sort()).toEqual([
    "child_chunks.csv",
    "chunks.csv",
    "datasets.csv",
    "document_details.csv",
    "documents.csv",
    "indexing_status.csv",
    "manifest.json",
    "metadata_fields.csv",
  ]);
});

test("flags win over the file", async () => {
  const { job, env, folder } = await startPlace({ formats: ["csv"] });
  const { code } = await runHere(
    ["run", job, "--format", "jsonl", "--out", join(folder, "other"), "--concurrency", "2"],
    env,
  );
  expect(code).toBe(0);
  const manifest = JSON.parse(await readFile(join(folder, "other", "test", "latest", "manifest.json"), "utf8"));
  expect(manifest.options).toMatchObject({ service: { concurrency: 2 }, output: { formats: ["jsonl"] } });
});

test("exit 3 for a partial run, with the reason in the summary and on stderr", async () => {
  const { job, env } = await startPlace();
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets[0].documents.push(absent);
  await writeFile(job, JSON.stringify(text));
  const { code, stdout, stderr } = await runHere(["run", job], env);
  expect(code).toBe(3);
  expect(stdout).toMatch(/^partial: 1 of 2 documents complete, 1 failed, 12 chunks/);
  expect(stdout.match(new RegExp(`${absent}: 404`, "g"))).toEqual([`${absent}: 404`]);
  expect(stdout).toContain(`\n  kbdump run ${job} --retry-failed\n`);
  expect(stderr).toMatch(new RegExp(`^warning: document ${absent} failed: 404 not_found.* \\(GET http\\S+\\)\n`));
});

test("the only document is not there: one sentence says so, once", async () => {
  const { job, env } = await startPlace();
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets[0].documents = [absent];
  await writeFile(job, JSON.stringify(text));
  const { code, stderr } = await runHere(["run", job], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^kbdump: document \S+ could not be read: 404 not_found .*\n$/);
});

test("--quiet: stderr is empty, or has one line that says why the exit code is not 0; stdout is the same", async () => {
  const { job, env } = await startPlace();
  const complete = await runHere(["run", job, "-q"], env);
  expect(complete).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^complete: 1 document/) });
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets[0].documents.push(absent);
  await writeFile(job, JSON.stringify(text));
  const partial = await runHere(["run", job, "--quiet"], env);
  expect(partial).toMatchObject({ code: 3, stdout: expect.stringMatching(/^partial: 1 of 2 documents/) });
  expect(partial.stderr).toBe("kbdump: published, but 1 of 2 documents failed or changed while they were read\n");
});

test.each([
  [
    "a wrong key",
    { KNOWLEDGE_API_KEY: "dataset-wrong" },
    1,
    /^kbdump: the service does not accept the key from the variable KNOWLEDGE_API_KEY \(401 unauthorized .*\); create one under Knowledge → Service API \(GET http\S+\)\n$/,
  ],
  ["no key", {}, 2, /^kbdump: no key: the variable KNOWLEDGE_API_KEY is not set\. .*\n$/],
])("%s: exit code and one plain sentence", async (_name, env, exitCode, sentence) => {
  const { job } = await startPlace();
  const { code, stdout, stderr } = await runHere(["run", job], env);
  expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toContain("dataset-wrong");
});

test("a server that does not answer: exit 1, and what to check", async () => {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  const port = typeof address === "object" ? address?.port : 0;
  await new Promise((resolve) => listener.close(resolve));
  const { job, env } = await startPlace({ service: { base_url: `http://127.0.0.1:${port}/v1` } });
  const { code, stderr, stdout } = await runHere(["run", job, "--json"], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^kbdump: the service cannot be reached: connection refused by 127\.0\.0\.1:\d+; check that the service runs and that service\.base_url is right \(GET \S+\)\n$/,
  );
  expect(JSON.parse(stdout)).toEqual({
    status: "failed",
    exit_code: 1,
    error: stderr.slice("kbdump: ".length, -1),
    problems: [],
  });
});

test("a wrong base URL: the message says where to look", async () => {
  const { server, job, env } = await startPlace({ service: {} });
  const text = JSON.parse(await readFile(job, "utf8"));
  text.service.base_url = server.url.replace("/v1", "/api");
  await writeFile(job, JSON.stringify(text));
  const { code, stderr } = await runHere(["run", job, "--quiet"], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^kbdump: the server answered with a web page \(404.*\), not with the Knowledge API; check service.base_url, which usually ends in \/v1 \(GET \S+\)\n$/,
  );
});

test.runIf(inFull)("a wrong job file: exit 2, every problem at once, no stack", async () => {
  const { job, env, server } = await startPlace();
  const before = server.requests.length;
  await writeFile(
    job,
    "service: {base_url: nowhere, concurency: 4}\ndatasets: [{id: x, documents: [y]}]\noutput: {formats: [xml]}\n",
  );
  const { code, stderr } = await runHere(["run", job], env);
  expect(code).toBe(2);
  expect(stderr.split("\n").map((line) => line.trim().split(":")[0])).toEqual(
    expect.arrayContaining([
      "service.base_url",
      "service.concurency",
      "datasets[0].id",
      "datasets[0].documents[0]",
      "output.formats[0]",
    ]),
  );
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(server.requests.length).toBe(before);
});

test.each([
  [["runn"], /^kbdump: unknown command runn; did you mean run\?\n$/],
  [["run", "--concurency", "3"], /^kbdump: unknown flag --concurency; did you mean --concurrency\?\n$/],
  [["run", "--batch"], /^kbdump: --batch: expected a value: batches whose indexing status to record/],
  [[], /^kbdump <command>: exports everything[\s\S]*Exit codes: /],
  [["--quiet"], /^kbdump: no command; expected one of completion, copy, /],
  [["run", "--fresh", "--retry-failed"], /^kbdump: --fresh: not together with --retry-failed\n$/],
  [["serve"], /^kbdump: nothing to serve: name a run or a job, .*, or give --demo\n$/],
  [["serve", "--demo", "--port", "70000"], /^kbdump: --port: got 70000, expected a whole number from 0 to 65535\n$/],
])("a wrong command line %j: exit 2 and what is wrong", async (args, message) => {
  const { code, stdout, stderr } = await runHere(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test.each(["run", "status", "serve", "init"])("%s --help has an example and the exit codes", async (command) => {
  const { code, stdout, stderr } = await runHere([command, "--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`kbdump ${command}`);
  expect(stdout).toMatch(/Examples?:\n {2}kbdump /);
  expect(stdout).toContain("Exit codes: 0 ");
  expect(stdout).toContain("--json");
});

test("--version", async () => {
  const { version } = JSON.parse(await readFile("package.json", "utf8"));
  expect(await runKbdump(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  for (const line of [["-V"], ["-v"], ["run", "--version"]])
    expect(await runHere(line)).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  const { node, platform, arch } = { node: process.version, platform: process.platform, arch: process.arch };
  const duckdb = JSON.parse(await readFile("node_modules/@duckdb/node-api/package.json", "utf8")).version;
  const { stdout } = await runHere(["--version", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ name: "kbdump", version, node, platform, arch, duckdb });
});

test("help in every spelling; without arguments on stderr, with exit 2", async () => {
  const [all, run] = [await runHere(["--help"]), await runHere(["run", "--help"])];
  expect(run.stdout).toMatch(/^kbdump run \[job\]\n/);
  expect([await runHere(["-h"]), await runHere(["help"])]).toEqual([all, all]);
  expect([await runHere(["help", "run"]), await runHere(["run", "x", "--base-ulr", "-h"])]).toEqual([run, run]);
  expect(await runHere([])).toEqual({ code: 2, stdout: "", stderr: all.stdout });
});

test("--env-file contains the key and the variables of the job file", async () => {
  const { job, env, folder, server } = await startPlace();
  const text = JSON.parse(await readFile(job, "utf8"));
  text.service.base_url = `\${KB_TEST_URL}`;
  await writeFile(job, JSON.stringify(text));
  const file = join(folder, "test.env");
  await writeFile(file, `KNOWLEDGE_API_KEY='${env.KNOWLEDGE_API_KEY}'\nKB_TEST_URL=${server.url}\n`);
  expect(await runHere(["run", job, "-q", "--env-file", file])).toMatchObject({ code: 0, stderr: "" });
  const wrong = await runHere(["run", job, "-q", "--env-file", file], { KNOWLEDGE_API_KEY: "dataset-wrong" });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("401 unauthorized") });
});

test("init writes a job file and never overwrites an existing one", async () => {
  const folder = await testFolder();
  const path = join(folder, "my.yaml");
  expect(await runHere(["init", path])).toMatchObject({ code: 0, stderr: "" });
  const text = await readFile(path, "utf8");
  expect(text).toContain("base_url:");
  expect(await runHere(["init", path])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("exists already"),
  });
  expect(await readFile(path, "utf8")).toBe(text);
});

test.runIf(inFull)(
  "status prints a table, and control characters of the service do not reach the terminal",
  async () => {
    const { job, env, document } = await startPlace();
    const { code, stdout } = await runHere(["status", job], env);
    expect(code).toBe(0);
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(/^document +status +done +age +error$/);
    expect(lines.find((line) => line.startsWith(document.id))).toMatch(/ completed +100 % +\d+ d \d+ h$/);
    expect(lines.find((line) => line.startsWith(absent))).toMatch(/ error +100 % +\d+ d \d+ h +no +\[31mred$/);
    expect(stdout).toContain("added to ");
  },
);

test("status of the only batch, which is not there: one sentence says so, once", async () => {
  const { job, env } = await startPlace();
  const { code, stderr } = await runHere(["status", job, "--batch", "unknown"], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^kbdump: no batch could be read: .* 404 not_found .*\n$/);
});

test("status of a job without batches is a wrong job", async () => {
  const { dataset, document, job, env } = await startPlace();
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets = [{ id: dataset.id, documents: [document.id] }];
  await writeFile(job, JSON.stringify(text));
  expect(await runHere(["status", job], env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("datasets[0].batches"),
  });
});

test.runIf(inFull)("serve --demo answers until it is stopped, and can be dumped", async () => {
  const child = startKbdump(["serve", "--demo", "--key", "local-key", "--json"]);
  const done = finished(child);
  const { base_url: baseUrl } = await new Promise<{ base_url: string }>((resolve) => {
    child.stdout?.once("data", (text: string) => resolve(JSON.parse(text)));
  });
  const refused = await fetch(`${baseUrl}/datasets`);
  expect(refused.status).toBe(401);
  const answer = await fetch(`${baseUrl}/datasets`, { headers: { authorization: "Bearer local-key" } });
  expect(await answer.json()).toMatchObject({ total: 2 });
  child.kill("SIGTERM");
  expect(await done).toMatchObject({ code: 0, stderr: "" });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s: exit %i soon, nothing published, and the next run works", async (signal, exitCode) => {
  const { job, env, folder, server } = await startPlace({ chunks: 110, latency: 20 });
  const child = startKbdump(["run", job], env);
  const done = finished(child);
  while (server.requests.length < 20) await new Promise((resolve) => setTimeout(resolve, 10));
  const start = performance.now();
  child.kill(signal);
  const kept = "progress is kept; run the same command to resume";
  expect(await done).toEqual({ code: exitCode, stdout: "", stderr: `kbdump: interrupted by ${signal}; ${kept}\n` });
  expect(performance.now() - start).toBeLessThan(5000);
  expect(await readdir(join(folder, "out", "test", "runs"))).toEqual([]);
  expect(await runHere(["run", job, "--quiet"], env)).toMatchObject({ code: 0 });
});

test("two runs of one job: the second names the owner and exits 5", async () => {
  const { job, env, server } = await startPlace({ chunks: 110, latency: 20 });
  const first = startKbdump(["run", job], env);
  const done = finished(first);
  while (server.requests.length < 20) await new Promise((resolve) => setTimeout(resolve, 10));
  const second = await runHere(["run", job], env);
  expect(second).toMatchObject({ code: 5, stdout: "" });
  expect(second.stderr).toContain(`process ${first.pid} on `);
  expect(await done).toMatchObject({ code: 0 });
});

test("--log-format json writes JSON lines and nothing else to stderr", async () => {
  const { job, env } = await startPlace();
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets[0].documents.push(absent);
  await writeFile(job, JSON.stringify(text));
  const { stderr } = await runHere(["run", job, "--log-format", "json"], env);
  const lines = stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    { time: expect.stringMatching(/^\d{4}-/), level: "warn", message: expect.stringContaining(absent) },
  ]);
});

test.runIf(inFull)("a reader of stdout that goes away is no crash", async () => {
  const { job, env } = await startPlace();
  const child = startKbdump(["run", job, "--quiet"], env);
  child.stdout?.destroy();
  expect(await finished(child)).toMatchObject({ code: 0, stderr: "" });
});

test("the key is in no file, no output and not in the arguments", async () => {
  const { job, env, folder } = await startPlace();
  const { stdout, stderr } = await runHere(
    ["run", job, "--format", "jsonl", "--format", "csv", "--format", "parquet", "--format", "duckdb"],
    env,
  );
  expect(stdout + stderr).not.toContain(env.KNOWLEDGE_API_KEY);
  const files = await readdir(join(folder, "out"), { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  expect(paths.length).toBe(18);
  for (const path of paths) expect((await readFile(path)).includes(env.KNOWLEDGE_API_KEY)).toBe(false);
});
