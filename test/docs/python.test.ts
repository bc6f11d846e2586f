import { spawnSync } from "node:child_process";
import { afterAll, expect, test } from "vitest";
import { blocks, placeOf } from "../documentation.js";
import { type ExamplePlaces, openExamplePlaces } from "./example-place.js";

const python = (code: string, options: { readonly cwd?: string; readonly input?: string } = {}) =>
  spawnSync("python3", ["-c", code], { encoding: "utf8", ...options });

const isThere = python("").status === 0;
const examples = blocks
  .filter(({ language }) => language === "python")
  .map((block) => ({ ...block, place: placeOf(block), modules: modulesOf(block.text) }));

let opened: Promise<ExamplePlaces> | undefined;
afterAll(async () => (await opened)?.close());

/** A folder with a dump to read; only made if there is something to read it with. */
async function openPlace(): Promise<string> {
  opened ??= openExamplePlaces();
  return (await opened).open();
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

test.for(examples)("$place does what it shows", async ({ text, modules }, { skip }) => {
  const missing = modules.filter((name) => python(`import ${name}`).status !== 0);
  skip(missing.length > 0, `python3 lacks ${missing.join(" and ")}: only its syntax was checked`);
  const { status, stderr } = python(text, { cwd: await openPlace() });
  expect(status, stderr).toBe(0);
});

/** The modules that a text imports. */
function modulesOf(text: string): readonly string[] {
  return [...text.matchAll(/^(?:import|from) (\w+)/gm)].map(([, name = ""]) => name);
}
