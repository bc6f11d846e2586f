import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
let place: string;

/** A complete new command: one file in the commands folder. */
const toy = `
import * as v from "valibot";
import { defineCommand } from "../cli/command.js";
import { printResult } from "../cli/output.js";

export const command = defineCommand({
  name: "toy <word>",
  about: "repeat a word",
  positionals: { word: { type: "string", demandOption: true, describe: "the word" } },
  options: {},
  results: () => ({ toy: v.strictObject({ word: v.string() }) }),
  epilog: "Exit codes: 0 repeated",
  async run({ word, json }, environment) {
    await printResult(environment, json ? JSON.stringify({ word }) : word);
    return 0;
  },
});
`;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "kbdump-toy-"));
  await cp(join(root, "dist"), join(place, "dist"), { recursive: true });
  await cp(join(root, "package.json"), join(place, "package.json"));
  await symlink(join(root, "node_modules"), join(place, "node_modules"));
  await writeFile(join(place, "dist/commands/toy.js"), toy);
});
afterAll(() => rm(place, { recursive: true }));

/** Runs a file of the copied program with Node. */
async function ran(file: string, ...args: readonly string[]) {
  return promisify(execFile)(process.execPath, [join(place, "dist", file), ...args]).catch((error) => error);
}

test("a command is one file: the program runs it, lists it, and proposes it", async () => {
  expect(await ran("main.js", "toy", "hello")).toMatchObject({ stdout: "hello\n", stderr: "" });
  expect((await ran("main.js", "--help")).stdout).toMatch(/^ {2}kbdump toy <word> +repeat a word$/m);
  expect((await ran("main.js", "toyy")).stderr).toBe("kbdump: unknown command toyy; did you mean toy?\n");
  expect((await ran("main.js", "--get-yargs-completions", "kbdump", "to")).stdout).toMatch(/^toy$/m);
});

test("the build writes the schema of its result", async () => {
  await mkdir(join(place, "dist/schemas"), { recursive: true });
  expect(await ran("cli/write-schemas.js")).toMatchObject({ stderr: "" });
  const schema = JSON.parse(await readFile(join(place, "dist/schemas/toy.schema.json"), "utf8"));
  expect(schema.title).toBe("Result of kbdump toy --json");
  const { stdout } = await ran("main.js", "toy", "hello", "--json");
  expect(new Ajv({ strict: true }).validate(schema, JSON.parse(stdout))).toBe(true);
});

test("the program loads nothing but files of the folder, by plain names", async () => {
  for (const name of ["../main", "./toy", "toy.js", "Toy"])
    expect((await ran("main.js", name)).stderr).toContain("unknown command");
});
