import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { expect, onTestFinished, test, vi } from "vitest";
import { commands, runCommandLine } from "../../src/cli/cli.js";
import { outputFlags, printError } from "../../src/cli/output.js";
import { renderReading, renderRun } from "../../src/cli/progress-text.js";
import { openView } from "../../src/cli/progress-view.js";
import { loadAll } from "../../src/cli/registry.js";
import { resultJsonSchemas } from "../../src/cli/write-schemas.js";
import { renderWrites } from "../../src/commands/restore/shared.js";
import { renderWatch } from "../../src/commands/status.js";
import { BusyError, InterruptedError, UnprintedError } from "../../src/errors.js";
import { emptyRunProgress } from "../../src/job/run-progress.js";
import { emptyReadProgress } from "../../src/read-progress.js";
import { emptyWriteProgress } from "../../src/restore/result.js";
import { isMapping } from "../../src/schema.js";
import { emptyWatchProgress } from "../../src/status/watched-documents.js";
import { runHere } from "../cli/run-here.js";
import {
  copiedOf,
  copyOf,
  datasetPlanOf,
  differenceOf,
  documentPlanOf,
  everyDataset,
  appliedOf as movedDocumentsOf,
} from "../restore/copy/made-copy.js";
import { appliedOf, everything, idOf, manual, resultOf } from "../restore/lost/made-result.js";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../servers/store.js";

const ajv = new Ajv({ strict: true, allErrors: true });
const schemas = new Map<string, object>(JSON.parse(JSON.stringify([...(await resultJsonSchemas(commands))])));
const validators = new Map([...schemas].map(([name, schema]) => [name, ajv.compile(schema)]));
const absent = "00000000-0000-4000-8000-00000000dead";

/** Returns the JSON object on the last line, after validating it against a schema. */
function parsed(name: string, text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
  const validate: ValidateFunction | undefined = validators.get(name);
  validate?.(value);
  expect(validate?.errors ?? null, `${name}: ${text.slice(0, 300)}`).toBeNull();
  return isMapping(value) ? value : {};
}

/** Runs a command with JSON output; its result and every line on stderr must match their schemas. */
async function result(schema: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const log = args[0] === "init" ? [] : ["--log-format", "json"];
  const { code, stdout, stderr } = await runHere([...args, "--json", ...log], env);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  for (const line of stderr.split("\n").filter(Boolean)) parsed("log", line);
  const { status } = parsed(schema, stdout);
  return [code, status] as const;
}

/** A job with one document and one batch, and a job that also names a missing document and a missing batch. */
async function startPlace() {
  const store = new Store();
  const document = makeDocument({ chunks: 3, childrenPerChunk: 1 });
  const dataset = store.addDataset(document);
  dataset.batches.set("2025", [makeStatusEntry(document.id)]);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const datasets = [{ id: dataset.id, documents: [document.id], batches: ["2025"] }];
  const output = { formats: ["jsonl"], dir: join(folder, "out"), keep: { last: 1 } };
  const job = await jobFile(folder, { service: { base_url: server.url, retries: 0 }, datasets, output });
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets[0].documents.push(absent);
  text.datasets[0].batches.push("none");
  const broken = join(folder, "broken.yaml");
  await writeFile(broken, JSON.stringify(text));
  return { job, broken, folder, dataset, document, env: { KNOWLEDGE_API_KEY: server.key } };
}

/** Every object in a schema, with its path. */
function objectsOf(schema: unknown, path = ""): readonly (readonly [string, Record<string, unknown>])[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => objectsOf(each, path));
  if (!isMapping(schema)) return [];
  const own = isMapping(schema.properties) ? [[path, schema] as const] : [];
  return [...own, ...Object.entries(schema).flatMap(([key, value]) => objectsOf(value, `${path}/${key}`))];
}

test("every command with --json has a schema, which the package exports", async () => {
  for (const [at, { options }] of (await loadAll(commands)).entries())
    if ("json" in options) expect([...schemas.keys()]).toContain(commands.names()[at]);
  const { exports: entries } = JSON.parse(await readFile("package.json", "utf8"));
  expect(entries["./schemas/*.json"]).toBe("./dist/schemas/*.json");
  const built = await readFile("dist/schemas/run.schema.json", "utf8");
  expect(JSON.parse(built)).toEqual(schemas.get("run"));
});

test("every member is required, no other is allowed, names are in snake case, and none counts milliseconds", () => {
  for (const [name, schema] of schemas) {
    const objects = objectsOf(schema, name);
    expect(objects.length).toBeGreaterThan(0);
    for (const [path, { properties, required, additionalProperties }] of objects) {
      const names = Object.keys(isMapping(properties) ? properties : {});
      expect([path, required, additionalProperties]).toEqual([path, names, false]);
      for (const each of names) expect(each).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
      expect(names.filter((each) => /(^|_)(ms|millis\w*)$/.test(each))).toEqual([]);
    }
  }
});

test.runIf(inFull)("run, plan, status, verify, diff and prune: results that are complete", async () => {
  const { job, folder, env, document } = await startPlace();
  const runs = join(folder, "out", "test");
  expect(await result("plan", ["plan", job], env)).toEqual([0, "complete"]);
  expect(await result("run", ["run", job], env)).toEqual([0, "complete"]);
  const latest = join(runs, "latest");
  expect(await result("verify", ["verify", latest])).toEqual([0, "sound"]);
  expect(await result("diff", ["diff", latest, latest])).toEqual([0, "same"]);
  expect(await result("status", ["status", job], env)).toEqual([0, "complete"]);
  expect(await result("status-watch", ["status", job, "--watch"], env)).toEqual([0, "completed"]);
  expect(await result("prune", ["prune", job, "--dry-run"], env)).toEqual([0, "complete"]);
  const [chunk] = document.chunks;
  Object.assign(chunk ?? {}, { content: "other words" });
  const kept = join(folder, "kept");
  expect(await result("run", ["run", job, "--out", kept], env)).toEqual([0, "complete"]);
  for (const more of [[], ["--text"], ["--only", "document"]])
    expect(await result("diff", ["diff", latest, join(kept, "test", "latest"), ...more])).toEqual([4, "different"]);
  await appendFile(join(kept, "test", "latest", "chunks.jsonl"), "{}\n");
  expect(await result("verify", ["verify", join(kept, "test", "latest")])).toEqual([4, "differences"]);
});

test.runIf(inFull)("run with documents: all, and a partial run", async () => {
  const { broken, job, folder, env, dataset } = await startPlace();
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets[0].documents = "all";
  const all = join(folder, "all.yaml");
  await writeFile(all, JSON.stringify(text));
  expect(await result("run", ["run", all], env)).toEqual([0, "complete"]);
  dataset.batches.set("2025", [makeStatusEntry(absent, { indexing_status: "error", error: { odd: 1 } })]);
  expect(await result("run", ["run", broken], env)).toEqual([3, "partial"]);
  expect(await result("plan", ["plan", broken], env)).toEqual([3, "partial"]);
  expect(await result("status", ["status", broken], env)).toEqual([3, "partial"]);
  expect(await result("status-watch", ["status", job, "--watch"], env)).toEqual([3, "error"]);
  dataset.batches.set("2025", [makeStatusEntry(absent, { indexing_status: "indexing", completed_segments: 0 })]);
  const watch = ["status", job, "--watch", "--interval", "0.1", "--timeout", "0.3"];
  expect(await result("status-watch", watch, env)).toEqual([1, "timeout"]);
});

test.runIf(inFull)("init, and serve until it is stopped", async () => {
  const { job, folder, env } = await startPlace();
  expect(await result("init", ["init", join(folder, "new.yaml")])).toEqual([0, "complete"]);
  const twice = await runHere(["init", job, "--json"]);
  expect(parsed("error", twice.stdout)).toMatchObject({ status: "failed", problems: [{ path: job }] });
  await runHere(["run", job, "--quiet"], env);
  const latest = join(folder, "out", "test", "latest");
  for (const args of [["--demo"], ["--demo", "--key-env", "KNOWLEDGE_API_KEY"], [latest]]) {
    const end = new AbortController();
    let printed = "";
    const stdout = {
      write: (text: string) => {
        printed += text;
        end.abort(new InterruptedError("SIGTERM"));
      },
    };
    const stderr = { write: () => {} };
    const still = { program: () => "kbdump", interrupt: () => {}, committing: () => {} };
    const environment = { ...still, stdout, stderr, env, signal: end.signal };
    expect(await runCommandLine(["serve", ...args, "--json"], environment)).toBe(0);
    expect(parsed("serve", printed)).toMatchObject({ status: "serving" });
  }
});

test.runIf(inFull)("errors: every problem of the command line or job file, and a separate status", async () => {
  const { job, broken } = await startPlace();
  expect(await result("error", ["run", job], { KNOWLEDGE_API_KEY: "wrong" })).toEqual([1, "failed"]);
  await writeFile(broken, "service: {base_url: nowhere, concurency: 4}\ndatasets: []\n");
  for (const args of [["run", broken], ["run", "--nothing"], ["runn"], ["serve"]]) {
    expect(await result("error", args)).toEqual([2, "failed"]);
    const { stdout, stderr } = await runHere([...args, "--json", "--log-format", "json"]);
    const { problems, message } = parsed("log", stderr);
    expect(problems).not.toEqual([]);
    expect(parsed("error", stdout)).toEqual({ status: "failed", exit_code: 2, error: message, problems });
  }
});

test("restore: the plan and its result", () => {
  const difference = { document_id: manual, level: "chunk", id: idOf(1), position: null, reason: "twice" } as const;
  const applied = {
    rows: [appliedOf(1), appliedOf(2, { outcome: "failed", target_id: null, reason: "500" })],
    writes: 2,
  };
  for (const result of [
    resultOf([]),
    resultOf([everything]),
    resultOf([everything], { applied, differences: [difference] }),
  ])
    expect(parsed("restore", JSON.stringify(result))).toMatchObject({
      status: result.status,
    });
});

test("restore --to: the plan and its result", () => {
  const file = { path: "/a/b.pdf", name: "b.pdf", mime_type: null, bytes: 7, sha256: "0f" };
  const metadata = ["Ito", 2026, null].map((value, at) => ({ name: `field ${at}`, value }));
  const full = documentPlanOf(9, { attachments: [{ id: idOf(1), file }], metadata });
  const there = datasetPlanOf([full], { target: { kind: "there", id: idOf(2), name: "Other" } });
  const failed = [{ level: "child_chunk", id: idOf(3), position: null, reason: "500" }] as const;
  const documents = [copiedOf(1), copiedOf(2, { outcome: "partial", target_id: null, failed, reason: "500" })];
  const applied = movedDocumentsOf(documents, { problems: ["no tag could be made"] });
  const differences = [differenceOf(1), differenceOf(2, { level: "dataset", document_id: null, position: null })];
  for (const result of [
    copyOf([]),
    copyOf([everyDataset], { plan: { datasets: [there] } }),
    copyOf([everyDataset], { applied, differences }),
  ])
    expect(parsed("restore-to", JSON.stringify(result))).toMatchObject({
      status: result.status,
    });
});

test("progress of every kind, with many and with no facts", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const known = { documents: 3, documentsBegun: 1, pagesExpected: 7, pagesDone: 3 };
  const renderings = [
    renderRun(emptyRunProgress()),
    renderRun({ ...emptyRunProgress(), ...known }),
    renderReading({ step: "matching", expected: 7, done: 2 }),
    renderReading(emptyReadProgress()),
    renderWatch(emptyWatchProgress()),
    renderWrites({ ...emptyWriteProgress(), step: "writing", chunks: 7, chunksDone: 3 }),
    renderWrites({ ...emptyWriteProgress(), step: "proving", dump: emptyRunProgress() }),
    renderWrites(emptyWriteProgress()),
    renderWrites({ ...emptyWriteProgress(), step: "writing", chunks: 7, chunksDone: 3 }),
    renderWrites({ ...emptyWriteProgress(), step: "proving", dump: emptyRunProgress() }),
  ];
  for (const rendering of renderings) {
    let written = "";
    const output = { write: (text: string) => (written += text) };
    const stop = openView({ output, env: {}, format: "json", quiet: false }).watch(rendering);
    vi.advanceTimersByTime(10_001);
    stop();
    expect(parsed("log", written)).toMatchObject({ message: "progress", elapsed_seconds: 10 });
  }
});

test.each([
  [new BusyError("busy"), "busy", 5],
  [new InterruptedError("SIGINT"), "interrupted", 130],
  [new UnprintedError("published, but stdout is full"), "partial", 3],
  [new TypeError("a fault"), "failed", 1],
])("%s ends with its status", (error, status, exitCode) => {
  const said = { stdout: "", stderr: "" };
  const into = (name: keyof typeof said) => ({ write: (text: string) => (said[name] += text) });
  const flags = outputFlags(["--json", "--log-format", "json"]);
  expect(printError(error, flags, { stdout: into("stdout"), stderr: into("stderr") })).toBe(exitCode);
  expect(parsed("error", said.stdout)).toMatchObject({ status, exit_code: exitCode, problems: [] });
  const { stack } = parsed("log", said.stderr);
  expect(typeof stack).toBe(error instanceof TypeError ? "string" : "object");
});
