import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runCommandLine } from "../../src/cli/cli.js";
import { tableBelow } from "../documentation.js";

const page = "docs/commands.md";
const commands = [
  "run",
  "demo",
  "plan",
  "status",
  "verify",
  "diff",
  "report",
  "serve",
  "guard",
  "restore",
  "copy",
  "join",
  "worker",
  "list",
  "sql",
  "prune",
  "init",
  "completion",
];

/** The output of `--help`, with every line whole. */
async function helpOf(...command: readonly string[]): Promise<string> {
  let text = "";
  const stdout = { columns: 1_000, write: (piece: string) => (text += piece) };
  const environment = {
    program: () => "kbdump",
    stdout,
    stderr: stdout,
    env: {},
    signal: new AbortController().signal,
    interrupt: () => {},
    committing: () => {},
  };
  await runCommandLine([...command, "--help"], environment);
  return text;
}

const flagsIn = (help: string) =>
  [...help.matchAll(/^ {2,6}(?:-\w, )*--([\w-]+)/gm)].map(([, name = ""]) => `--${name}`);
const codesIn = (text: string) => [...text.matchAll(/(?:^|· |: )(\d+(?:, \d+)*) /g)].map(([, codes = ""]) => codes);
const firstCells = (heading: string) =>
  tableBelow(page, heading).map(([cell = ""]) => cell.replaceAll("`", "").replace(/, -\w$/, ""));

const common = firstCells("Flags of every command");
const choosing = firstCells("Flags that choose a job");

test.each(commands)("kbdump %s: the page has its flags, and no other", async (command) => {
  const cells = firstCells(`kbdump ${command}`);
  const shared = [...common, ...(["run", "plan", "status"].includes(command) ? choosing : [])];
  const named = [...cells, ...shared].filter((cell) => cell.startsWith("--"));
  const real = flagsIn(await helpOf(command)).filter((flag) => !["--help", "--version"].includes(flag));
  expect(named.sort()).toEqual(real.sort());
});

test.each(commands)("kbdump %s: the page has its exit codes, and no other", async (command) => {
  const help = (await helpOf(command)).replaceAll("\n", " ");
  const [, codes = ""] = /Exit codes: (.*)$/.exec(help) ?? [];
  const named = firstCells(`kbdump ${command}`).filter((cell) => /^\d/.test(cell));
  expect(named).toEqual(codesIn(codes));
});

test("the page and README.md have every command", async () => {
  const real = [...(await helpOf()).matchAll(/^ {2}kbdump (\w+)/gm)].map(([, name]) => name);
  expect(real.slice(0, commands.length)).toEqual(commands.toSorted());
  const text = readFileSync(page, "utf8");
  const readme = readFileSync("README.md", "utf8");
  for (const command of commands) {
    expect(text).toContain(`\n## kbdump ${command}\n`);
    expect(readme).toMatch(new RegExp(`\\| \`kbdump ${command}[ \`]`));
  }
});
