import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { inFull } from "../rounds.js";
import { finished, runKbdump } from "./run-kbdump.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const document = "49d1b8f9-7459-432b-b898-6685c98c71d2"; // a short one
const root = join(import.meta.dirname, "../..");
let service: Awaited<ReturnType<typeof startService>>;
let folder: string;
beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), "kbdump-loaded-"));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

/** The command line for a run of one document, with a JSON job file. */
async function smallRun(out: string): Promise<readonly string[]> {
  const file = join(folder, "job.json");
  const job = { service: { base_url: service.url }, datasets: [{ id: dataset, documents: [document] }] };
  await writeFile(file, JSON.stringify(job));
  return ["run", file, "--format", "jsonl", "--quiet", "--out", join(folder, out)];
}

/** The files that the built program loads, by their paths in the checkout. Node's coverage data lists them. */
async function filesOf(args: readonly string[]): Promise<readonly string[]> {
  const coverage = await mkdtemp(join(folder, "coverage-"));
  const env = { KNOWLEDGE_API_KEY: service.key, NODE_V8_COVERAGE: coverage };
  const { code, stderr } = await runKbdump([...args], env, folder);
  expect([code, stderr]).toEqual([0, ""]);
  const [name = ""] = await readdir(coverage);
  const { result }: { result: { url: string }[] } = JSON.parse(await readFile(join(coverage, name), "utf8"));
  return result.filter(({ url }) => url.startsWith("file:")).map(({ url }) => relative(root, fileURLToPath(url)));
}

/** The npm packages that the files belong to. */
function packagesOf(files: readonly string[]): readonly string[] {
  return [...new Set(files.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []))].sort();
}

test("--version loads two files and no package", async () => {
  expect(await filesOf(["--version"])).toEqual(["dist/main.js", "dist/program/start.js"]);
});

test.runIf(inFull)("help waits for no library of the work itself", async () => {
  for (const command of ["list", "run", "status"]) {
    const files = await filesOf([command, "--help"]);
    expect(files.filter((file) => file.startsWith("dist/")).length).toBeLessThan(8);
    expect(packagesOf(files)).toContain("yargs");
    for (const heavy of ["undici", "p-limit", "@duckdb/node-api", "yaml", "diff"])
      expect(packagesOf(files)).not.toContain(heavy);
  }
});

test.runIf(inFull)("a small run loads few files, and no package that it does not need", async () => {
  const files = await filesOf(await smallRun("loaded"));
  expect(files.filter((file) => file.startsWith("dist/")).length).toBeLessThan(20);
  expect(packagesOf(files)).toEqual(["leven", "p-limit", "undici", "valibot", "yocto-queue"]);
});

test.runIf(inFull)("a small run does not wait for V8 to recompile the answer parser", async () => {
  const traced = ["--trace-wasm-compilation-times", "dist/main.js", ...(await smallRun("compiled"))];
  const env = { PATH: process.env.PATH, KNOWLEDGE_API_KEY: service.key };
  const { code, stdout } = await finished(spawn(process.execPath, traced, { cwd: root, env }));
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Compiled function \S+ using Liftoff/m)]);
  expect(stdout).not.toContain("using TurboFan");
});
