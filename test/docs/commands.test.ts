import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runCommandLine } from "../../src/cli/cli.js";
import { linesBelow, namesBelow } from "../documentation.js";

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

/** The output of `--help`, unwrapped. */
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

/** The flags with their own line below a heading. */
const flagsBelow = (heading: string) => namesBelow(page, heading).filter((name) => name.startsWith("--"));

const common = flagsBelow("Flags of every command");
const shared = flagsBelow("Shared flags");

/** The paragraph of a command that starts with this name, without the name. */
const paragraphOf = (command: string, name: string) =>
  linesBelow(page, `kbdump ${command}`)
    .join("\n")
    .split("\n\n")
    .find((text) => text.trimStart().startsWith(`${name}: `))
    ?.trimStart()
    .slice(name.length + 2)
    .replaceAll("\n", " ") ?? "";

test.each(commands)("kbdump %s: the page has its flags, and no other", async (command) => {
  const own = flagsBelow(`kbdump ${command}`);
  const said = paragraphOf(command, "Shared flags");
  const [, other] = /^as `kbdump (\w+)`/.exec(said) ?? [];
  const others = (other ? paragraphOf(other, "Shared flags") : said).match(/--[\w-]+/g) ?? [];
  expect(others.filter((flag) => !shared.includes(flag))).toEqual([]);
  const named = [...common, ...own, ...others];
  const real = flagsIn(await helpOf(command)).filter((flag) => !["--help", "--version"].includes(flag));
  expect(named.sort()).toEqual(real.sort());
});

test.each(commands)("kbdump %s: the page has its exit codes, and no other", async (command) => {
  const help = (await helpOf(command)).replaceAll("\n", " ");
  const [, codes = ""] = /Exit codes: (.*)$/.exec(help) ?? [];
  const named = paragraphOf(command, "Exit codes")
    .replace(/ \([^)]*\)/g, "")
    .match(/\d+/g);
  expect(named).toEqual(codesIn(codes).flatMap((group) => group.split(", ")));
});

test("the page and README.md have every command", async () => {
  const real = [...(await helpOf()).matchAll(/^ {2}kbdump (\w+)/gm)].map(([, name]) => name);
  expect(real.slice(0, commands.length)).toEqual(commands.toSorted());
  const text = readFileSync(page, "utf8");
  const readme = readFileSync("README.md", "utf8");
  for (const command of commands) {
    expect(text).toContain(`\n## kbdump ${command}\n`);
    expect(readme).toMatch(new RegExp(`\`(kbdump )?${command}[ \`]`));
  }
});
