import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Format } from "../../../src/dump/formats/format.js";
import { testFormat } from "./conformance.js";

const line = '  toy: { load: () => import("./toy.js") },\n';
let place: string;

/** Builds kbdump with a new format: one more file, and a line in formats.ts. */
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "kbdump-toy-"));
  for (const name of ["src", "package.json", "tsconfig.json"]) await cp(name, join(place, name), { recursive: true });
  await symlink(resolve("node_modules"), join(place, "node_modules"));
  await cp(join(import.meta.dirname, "toy-format.ts"), join(place, "src/dump/formats/toy.ts"));
  const registry = join(place, "src/dump/formats/formats.ts");
  const text = await readFile(registry, "utf8");
  const added = text.replace(/^\} satisfies/m, `${line}} satisfies`);
  expect(added.length).toBe(text.length + line.length);
  await writeFile(registry, added);
  const args = [resolve("node_modules/typescript/bin/tsc"), "--singleThreaded", "--tsBuildInfoFile", "tsbuildinfo"];
  await promisify(execFile)(process.execPath, args, { cwd: place });
}, 120_000);

afterAll(() => rm(place, { recursive: true, force: true }));

async function kbdump(...args: readonly string[]) {
  const child = spawn(process.execPath, [join(place, "dist/main.js"), ...args, "--json", "--quiet"], { cwd: place });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const [code] = await once(child, "close");
  return { code, result: JSON.parse(stdout) };
}

describe("a format that is one folder and one line", () => {
  testFormat("toy", async () => {
    const built = await import(pathToFileURL(join(place, "dist/dump/formats/formats.js")).href);
    const toy: Format = built.formats.toy;
    return toy;
  });

  it("is written by run, and read by verify and diff", async () => {
    const dataset = "363de3fa-c033-4479-aa89-3e7cf01dccd5";
    const documents = ["3def7793-d173-4330-8db1-37043d1ab72e"];
    const output = { dir: join(place, "out"), formats: ["toy"] };
    const job = { name: "toy", service: { demo: true }, datasets: [{ id: dataset, documents }], output };
    await writeFile(join(place, "job.yaml"), JSON.stringify(job));
    const run = await kbdump("run", "job.yaml");
    expect([run.code, run.result.status]).toEqual([0, "complete"]);
    const folder = join(place, "out/toy/latest");
    const verified = await kbdump("verify", folder);
    expect([verified.code, verified.result.checked.notes[0]]).toEqual([
      0,
      "verify cannot read toy: the hashes of its files were checked, their rows were not",
    ]);
    const compared = await kbdump("diff", folder, folder);
    expect([compared.code, compared.result.old.format]).toEqual([0, "toy"]);
  });
});
