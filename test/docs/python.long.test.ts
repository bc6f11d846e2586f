import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadJob } from "../../src/job/load-job.js";
import { runJob } from "../../src/run/run-job.js";
import { blocks, blocksOf, placeOf } from "../documentation.js";
import { type ExamplePlaces, exampleUrl, openExamplePlaces } from "./example-folder.js";

const python = (code: string, options: { readonly cwd?: string; readonly input?: string } = {}) =>
  spawnSync("python3", ["-c", code], { encoding: "utf8", ...options });

const isThere = python("").status === 0;
const examples = blocks
  .filter(({ language }) => language === "python")
  .map((block) => ({ ...block, place: placeOf(block), modules: modulesOf(block.text) }));

let opened: Promise<ExamplePlaces> | undefined;
afterAll(async () => (await opened)?.close());

/** A folder with the dumps that a page reads; only filled if Python can read them. */
async function openPlace(page: string): Promise<string> {
  opened ??= openExamplePlaces();
  const { open, server } = await opened;
  const folder = await open();
  if (page !== "docs/partitions.md") return folder;
  const file = join(folder, "lake.yaml");
  const text = blocksOf(page).find(({ language }) => language === "yaml")?.text ?? "";
  await writeFile(file, text.replace(exampleUrl, server.url));
  const job = await loadJob({ file }, { out: join(folder, "output") }, {});
  await runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
  return folder;
}

test("there are examples in Python, and each imports something", () => {
  expect(examples.length).toBeGreaterThan(2);
  for (const { modules, place } of examples) expect(modules.length, place).toBeGreaterThan(0);
});

test.for(examples)("$place is Python", ({ text }, { skip }) => {
  skip(!isThere, "there is no python3 on this machine");
  const parsed = python("import ast, sys; ast.parse(sys.stdin.read())", { input: text });
  expect(parsed).toMatchObject({ status: 0, stderr: "" });
});

test.for(examples)("$place does what it shows", { timeout: 120_000 }, async ({ page, text, modules }, { skip }) => {
  const missing = modules.filter((name) => python(`import ${name}`).status !== 0);
  skip(missing.length > 0, `python3 lacks ${missing.join(" and ")}: only its syntax was checked`);
  const extensions = [...text.matchAll(/INSTALL (\w+)/g)].map(([install]) => install);
  const refused = extensions.filter((install) => python(`import duckdb\nduckdb.execute("${install}")`).status !== 0);
  skip(refused.length > 0, `DuckDB cannot ${refused.join(" and ")} here: only the syntax was checked`);
  const { status, stderr } = python(text, { cwd: await openPlace(page) });
  expect(status, stderr).toBe(0);
});

/** The Python modules that a text imports. */
function modulesOf(text: string): readonly string[] {
  return [...text.matchAll(/^(?:import|from) (\w+)/gm)].map(([, name = ""]) => name);
}
