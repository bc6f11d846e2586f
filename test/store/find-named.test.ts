import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Found, findLocally } from "../../src/store/find-named.js";
import { testFolder } from "../run/job-for.js";

const before = process.cwd();
beforeEach(async () => process.chdir(await testFolder()));
afterEach(() => process.chdir(before));

/** Creates an entry of this kind at a path. */
async function put(kind: Found, path: string): Promise<void> {
  const inner = { run: "manifest.json", job: "runs", begun: ".work", folder: "x" }[kind as "run"];
  await mkdir(dirname(path), { recursive: true });
  if (inner === undefined) await writeFile(path, kind === "job file" ? '{"name": "n"}' : "");
  else if (inner === "manifest.json") await mkdir(path).then(() => writeFile(join(path, inner), "{}"));
  else await mkdir(join(path, inner), { recursive: true });
}

const at = (dir: string, name: string, more: object = {}) => ({
  kind: "job",
  location: { name, output: { dir, bucket: undefined, keep: undefined } },
  ...more,
});
const runFolder = (folder: string) => ({ kind: "run folder", folder });
const inOut = "out/nightly";

test.each<[string, Readonly<Record<string, Found>>, object | undefined]>([
  ["output/nightly/latest", { "output/nightly/latest": "run" }, runFolder("output/nightly/latest")],
  ["output/nightly", { "output/nightly": "job" }, at("output", "nightly")],
  ["jobs/nightly.yaml", { "jobs/nightly.yaml": "job file" }, at("out", "n", { file: "jobs/nightly.yaml" })],
  ["nightly.JSON", { "nightly.JSON": "job file" }, at("out", "n", { file: "nightly.JSON" })],
  ["nightly.duckdb", { "nightly.duckdb": "database" }, { kind: "database", file: "nightly.duckdb" }],
  ["nightly", { [inOut]: "job" }, at("out", "nightly")],
  ["nightly", { nightly: "run", [inOut]: "job" }, runFolder("nightly")],
  ["nightly", { nightly: "job", [inOut]: "job" }, at(".", "nightly")],
  ["nightly", { nightly: "folder", [inOut]: "job" }, at("out", "nightly")],
  ["nightly", { nightly: "other", [inOut]: "job" }, at("out", "nightly")],
  ["nightly", { nightly: "begun", [inOut]: "job" }, at("out", "nightly")],
  ["nightly", { nightly: "begun" }, at(".", "nightly")],
  ["nightly", { [inOut]: "begun" }, at("out", "nightly")],
  ["nightly", { [inOut]: "folder" }, undefined],
  ["Nightly", { "out/Nightly": "job" }, undefined],
  ["output/backup", { "output/backup": "folder" }, undefined],
  ["nightly@20261120", { [inOut]: "job" }, at("out", "nightly", { run: "20261120" })],
  [
    "n.yaml@20261120T020000123Z",
    { "n.yaml": "job file" },
    at("out", "n", { file: "n.yaml", run: "20261120T020000123Z" }),
  ],
  ["other/n@20261120T02", { "other/n": "job" }, at("other", "n", { run: "20261120T02" })],
  ["out/run@20261120", { "out/run": "run" }, undefined],
  ["a.duckdb@20261120", { "a.duckdb": "database" }, undefined],
  ["n@20261120.yaml", { "n@20261120.yaml": "job file" }, at("out", "n", { file: "n@20261120.yaml" })],
  ["n@20261120", { "n@20261120": "run", "out/n": "job" }, runFolder("n@20261120")],
  // Any other text after @ does not name a run.
  ["nightly@2026", { [inOut]: "job" }, undefined],
  ["nightly@latest", { [inOut]: "job" }, undefined],
  ["nightly@", { [inOut]: "job" }, undefined],
  ["@20261120", { [inOut]: "job" }, undefined],
])("%s, %o", async (text, places, thing) => {
  for (const [path, kind] of Object.entries(places)) await put(kind, path);
  const finding = findLocally(text, { out: "out", env: {} });
  if (thing) expect(await finding).toEqual(thing);
  else await expect(finding).rejects.toThrow(/^(No such run or job|Not a finished run folder):/);
});
