import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { type AskedJob, renderAskedJob } from "../../../src/commands/init/ask.js";
import { startService } from "../../../src/demo/start-service.js";
import { runHere } from "../../cli/run-here.js";
import { inFull } from "../../rounds.js";

const service = await startService();
const folder = await mkdtemp(join(tmpdir(), "kbdump-ask-"));
const env = { KNOWLEDGE_API_KEY: service.key };
let files = 0;

async function ask(...flags: readonly string[]) {
  const path = join(folder, `job-${files++}.yaml`);
  const ended = await runHere(["init", path, "--ask", ...flags], env);
  return { ...ended, path, job: async () => parse(await readFile(path, "utf8")) };
}

test("without a terminal, flags answer; names stand for ids", async () => {
  const named = ["--dataset", "Company handbook", "--format", "csv"];
  const { code, stdout, path, job } = await ask("--base-url", service.url, ...named);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `Wrote ${path}.\n\nNext:\n  kbdump plan ${path}\n  kbdump run ${path}\n`,
  });
  expect(await job()).toEqual({
    service: { base_url: service.url, api_key_env: "KNOWLEDGE_API_KEY" },
    datasets: [{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), documents: "all" }],
    output: { dir: "output", formats: ["csv"] },
  });
  expect((await runHere(["plan", path], env)).code).toBe(0);
});

test("--out is the output folder of the job file, with or without --ask", async () => {
  const { job } = await ask("--base-url", service.url, "--dataset", "all", "-o", "my dumps");
  expect(await job()).toMatchObject({ output: { dir: "my dumps" } });
  const path = join(folder, "commented.yaml");
  expect((await runHere(["init", path, "--out", "s3://kb-dumps/team"])).code).toBe(0);
  expect(parse(await readFile(path, "utf8"))).toMatchObject({ output: { dir: "s3://kb-dumps/team" } });
});

test("an id needs no list of datasets, and `all` needs no choice", async () => {
  const [first] = parse(
    await readFile((await ask("--base-url", service.url, "--dataset", "Company handbook")).path, "utf8"),
  ).datasets;
  const byId = await ask("--base-url", service.url, "--dataset", first.id, "--document", "all");
  expect(await byId.job()).toMatchObject({ datasets: [{ id: first.id, documents: "all" }] });
  expect(await (await ask("--base-url", service.url, "--dataset", "all")).job()).toMatchObject({ datasets: "all" });
});

test.runIf(inFull)(
  "an id and a name of one dataset are one; a format is written once; a file's name that no job can have is replaced",
  async () => {
    const [{ id }] = (await (await ask("--base-url", service.url, "--dataset", "Company handbook")).job()).datasets;
    const twice = ["--dataset", "Company handbook", "--dataset", id, "--format", "csv,csv"];
    expect(await (await ask("--base-url", service.url, ...twice)).job()).toMatchObject({
      datasets: [{ id }],
      output: { formats: ["csv"] },
    });
    const path = join(folder, "My job.v2.yaml");
    const odd = await runHere(["init", path, "--ask", "--base-url", service.url, "--dataset", "all"], env);
    expect(odd.stdout).toContain(`\n  kbdump run "${path}"\n`);
    expect(parse(await readFile(path, "utf8")).name).toBe("my-job-v2");
    expect((await runHere(["plan", path], env)).code).toBe(0);
  },
);

test("every missing answer is named at once, with its choices", async () => {
  const nothing = await runHere(["init", join(folder, "never.yaml"), "--ask"]);
  expect(nothing).toMatchObject({
    code: 2,
    stderr: `kbdump: There is no terminal for questions. Give what is missing as flags and variables:
  --base-url: Base URL of the service, such as https://kb.example.com/v1
  KNOWLEDGE_API_KEY: API key of the datasets, such as dataset-…
`,
  });
  const unchosen = await ask("--base-url", service.url);
  expect(unchosen.code).toBe(2);
  expect(unchosen.stderr).toMatch(
    /Choose with --dataset, which takes an id or a name:\n {2}all: .*\n {2}[0-9a-f-]{36}: Product knowledge\n/,
  );
});

test.each([
  [["--dataset", "Handbuch"], "--dataset Handbuch: not found; the service lists Product knowledge, Company handbook"],
  [["--dataset", "Company handbook", "--document", "x.md"], "--document x.md: not found; the service lists "],
  [
    ["--dataset", "Company handbook", "--dataset", "Product knowledge", "--document", "x"],
    "--document: needs exactly one --dataset",
  ],
  [["--dataset", "all", "--document", "x"], "--document: needs exactly one --dataset"],
  [["--dataset", "all", "--format", "csv,xml"], '--format: got "xml", expected jsonl, csv, parquet, duckdb'],
])("%j: %s", async (flags, message) => {
  const { code, stderr, job } = await ask("--base-url", service.url, ...flags);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  await expect(job()).rejects.toThrow("ENOENT");
});

test("an existing file is kept, and nothing is asked", async () => {
  const path = join(folder, "there.yaml");
  await writeFile(path, "mine");
  const { code, stderr } = await runHere(["init", path, "--ask", "--base-url", "http://127.0.0.1:1/v1"], env);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `kbdump: ${path}: exists already; name another file, as in kbdump init nightly.yaml\n`,
  });
  expect(await readFile(path, "utf8")).toBe("mine");
});

test("flags that answer questions need --ask", async () => {
  const path = join(folder, "plain.yaml");
  const { code, stderr } = await runHere(["init", path, "--dataset", "x", "--format", "csv"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      "kbdump: 2 problems with the command line:\n  --dataset: only together with --ask\n  --format: only together with --ask\n",
  });
});

test.runIf(inFull)("whatever the names and paths are, the file says the same as the answers", () => {
  const named = fc.record({ id: fc.uuid(), name: fc.option(fc.string({ unit: "binary" })) });
  const asked: fc.Arbitrary<AskedJob> = fc.record({
    baseUrl: fc.webUrl(),
    allowHttp: fc.boolean(),
    key: fc.oneof(fc.record({ variable: fc.constant("KEY") }), fc.record({ file: fc.string({ minLength: 1 }) })),
    datasets: fc.array(
      fc
        .tuple(named, fc.oneof(fc.constant("all" as const), fc.array(named, { minLength: 1, maxLength: 3 })))
        .map(([dataset, documents]) => ({ ...dataset, documents })),
      { minLength: 1, maxLength: 3 },
    ),
    formats: fc.constant(["csv", "duckdb"]),
  });
  fc.assert(
    fc.property(asked, (job) => {
      const { baseUrl, allowHttp, key, datasets, formats } = job;
      const place = "file" in key ? { api_key_file: key.file } : { api_key_env: key.variable };
      expect(parse(renderAskedJob(job))).toEqual({
        service: { base_url: baseUrl, ...(allowHttp ? { allow_http: true } : {}), ...place },
        datasets:
          datasets === "all"
            ? "all"
            : datasets.map(({ id, documents }) => ({
                id,
                documents: documents === "all" ? "all" : documents.map((document) => document.id),
              })),
        output: { dir: "output", formats },
      });
    }),
  );
});
