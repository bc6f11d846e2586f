import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commands } from "../../src/cli/cli.js";
import { loadAll } from "../../src/cli/registry.js";
import { startService } from "../../src/demo/start-service.js";
import { runJob } from "../../src/run/run-job.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { type BadInput, badInputs, badInputsOfFolder, secretKey } from "./bad-inputs.js";
import { runHere } from "./run-here.js";
import { type Finished, runKbdump } from "./run-kbdump.js";

let service: Awaited<ReturnType<typeof startService>>;
/** The folder of a finished run; tests copy it. */
let run: string;
let place: string;
beforeAll(async () => {
  service = await startService({ port: 0, key: "demo-key" });
  place = await mkdtemp(join(tmpdir(), "kbdump-test-"));
  const job = await jobFor(place, {
    service: { base_url: service.url },
    datasets: [{ id: "be707760-4d1d-4f33-b3ad-f9bace31e975", documents: ["49d1b8f9-7459-432b-b898-6685c98c71d2"] }],
    output: { formats: ["jsonl"] },
  });
  run = (await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } })).folder;
});
afterAll(async () => {
  await service.close();
  await rm(place, { recursive: true, force: true });
});

const flags = (await loadAll(commands)).flatMap(({ options }) => Object.keys(options));
const camelCase = flags
  .filter((flag) => flag.includes("-"))
  .map((flag) => flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));

/**
 * Text that no message may contain: raw JavaScript values, system error codes, stack traces, library names, code
 * identifiers, the key.
 */
const unfit = [
  /\bNaN\b|\bundefined\b|\[object/,
  /\bE(NOENT|ISDIR|ACCES|PERM|EXIST|NOTDIR|ADDRINUSE|CONNREFUSED)\b/,
  /^\s+at .*:\d+|This is a fault/m,
  /yargs|valibot|YAMLParseError|YError|ERR_[A-Z]/,
  new RegExp(`\\b(${camelCase.join("|")})\\b`),
  new RegExp(secretKey.slice(8)),
];

async function folderFor({ files = {}, run: manifestOf }: BadInput): Promise<string> {
  const folder = await testFolder();
  if (manifestOf) {
    const manifest = join(folder, "run", "manifest.json");
    await cp(run, join(folder, "run"), { recursive: true });
    await writeFile(manifest, manifestOf(await readFile(manifest, "utf8")));
  }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text.replaceAll("@/", `${folder}/`));
  }
  return folder;
}

function filledIn(text: string, folder: string): string {
  const { port } = new URL(service.url);
  return text
    .replaceAll(/(?<!\w)@/g, folder)
    .replaceAll("SERVICE_URL", service.url)
    .replaceAll("SERVICE_PORT", port);
}

function expectRefusal({ code = 2, says, line }: BadInput, refused: Finished, folder: string): void {
  const { stdout, stderr } = refused;
  const expected = filledIn(says, folder);
  expect(`exit ${refused.code}\n${stderr}`).toContain(
    says.startsWith("kbdump: ") ? `exit ${code}\n${expected}` : expected,
  );
  if (says.endsWith("\n")) expect(stderr.endsWith(expected)).toBe(true);
  expect(refused.code, stdout + stderr).toBe(code);
  const allowed = line.split(/[ =]/); // a message may repeat words that the user typed
  const own = (text: string) =>
    allowed.reduce((rest, word) => (/^--\w+$/.test(word) ? rest.replaceAll(word, "") : rest), text);
  for (const pattern of unfit) expect(own(stdout + stderr)).not.toMatch(pattern);
}

test("there are more than a hundred of them", () => {
  expect(badInputs.length + badInputsOfFolder.length).toBeGreaterThanOrEqual(100);
});

test.each(badInputs)("$line: $says", async (input) => {
  const folder = await folderFor(input);
  const args = filledIn(input.line, folder).split(" ");
  expectRefusal(input, await runHere(args, input.env ?? {}), folder);
});

test.each(badInputsOfFolder)("in its folder, $line: $says", async (input) => {
  const folder = await folderFor(input);
  expectRefusal(input, await runKbdump(input.line.split(" "), input.env ?? {}, folder), folder);
});

test("the problems of run's own flags and those of the job are named at once", async () => {
  const wrong = ["--shard", "5/3", "--max-duration", "soon"];
  const source = ["--base-url", "https://kb.example.com/v1", "--dataset", "x", "--document", "all"];
  const flagsOnly = await runHere(["run", ...source, ...wrong, "--json"]);
  const paths = ({ stdout }: { stdout: string }) =>
    JSON.parse(stdout).problems.map(({ path }: { path: string }) => path);
  expect(flagsOnly.code).toBe(2);
  expect(flagsOnly.stderr).toContain("3 problems with the command line:");
  expect(paths(flagsOnly)).toEqual(["--shard", "--max-duration", "--dataset"]);
  const file = join(await testFolder(), "job.yaml");
  await writeFile(file, "service: {demo: true}\ndatasets: some\n");
  const withFile = await runHere(["run", file, "--workers", "http://x", "--max-duration", "soon", "--json"]);
  expect(paths(withFile)).toEqual(["--workers", "--max-duration", "datasets"]);
  expect(withFile.stderr).toContain("2 problems with the command line:");
  expect(withFile.stderr).toContain("1 problem with the job file");
});
