import { expect, test } from "vitest";
import { commands } from "../../src/cli/cli.js";
import { commonOptions, groups, type Option } from "../../src/cli/command.js";
import { helpOf, helpOfAll } from "../../src/cli/help.js";
import { loadAll } from "../../src/cli/registry.js";

const loaded = await loadAll(commands);
const cases = loaded.map((command) => [command.name.split(" ")[0] ?? "", command] as const);

/** The length of the longest word in a help text: it cannot be printed any narrower. */
const longestWord = (text: string) => Math.max(...text.split(/\s+/).map(({ length }) => length));

test.each(cases)("kbdump %s --help fits 80 and 40 columns", async (_name, command) => {
  for (const columns of [80, 40]) {
    const help = await helpOf(command, columns);
    const most = Math.max(columns, Math.floor(columns / 2) + longestWord(help));
    expect(help.split("\n").filter(({ length }) => length > (columns === 80 ? 80 : most))).toEqual([]);
  }
});

test.each(cases)(
  "kbdump %s --help has an example and its exit codes, and no line is broken by hand",
  async (name, command) => {
    const help = await helpOf(command, 110);
    expect(help).toMatch(new RegExp(`^Examples?:\\n(  .*\\n)*  .*kbdump ${name}`, "m"));
    expect(help).toMatch(/^Exit codes: 0 /m);
    const texts = [command.about, command.epilog, ...Object.values(command.options).map(({ describe }) => describe)];
    // An indented line is a command to copy; every other line is its own paragraph.
    for (const text of texts) expect(text).not.toMatch(/(^|\n)[^\s:][^\n]*[^\n:]\n[^\s]/);
    for (const text of texts.slice(2)) expect(text).not.toContain("\n");
    for (const example of command.epilog.split("\n").filter((line) => line.startsWith("  "))) {
      expect(example.length).toBeLessThanOrEqual(92);
    }
  },
);

test.each(cases)(
  "kbdump %s --help shows the value of every flag that takes one, under headings",
  async (_name, command) => {
    const help = await helpOf(command, 110);
    for (const [flag, { type }] of Object.entries<Option>({ ...command.options, ...commonOptions }))
      expect(help).toMatch(new RegExp(`^ .*--${flag}${type === "boolean" ? " {2}" : "( |\\[=)[A-Z\\w|/]+"}`, "m"));
    const headings = [...help.matchAll(/^([A-Z][\w ]+):$/gm)].map(([, heading]) => heading);
    const all = ["Positionals", ...groups, "Examples"];
    expect(headings.filter((heading) => all.includes(`${heading}`))).toEqual(
      all.filter((one) => headings.includes(one)),
    );
    expect(headings).toContain("Every command");
  },
);

test("the help of all commands fits 80 and 40 columns, and has every command", async () => {
  for (const columns of [80, 40]) {
    const help = await helpOfAll(loaded, columns);
    expect(help.split("\n").filter(({ length }) => length > columns)).toEqual([]);
    for (const [name] of cases) expect(help).toContain(`  kbdump ${name}`);
    expect(help).toContain("Dify");
  }
});

test("output outside a terminal has 80 columns; a wide terminal at most 110", async () => {
  const run = loaded.find(({ name }) => name.startsWith("run "));
  const longest = async (columns: number | undefined) => {
    const help = run ? await helpOf(run, columns) : "";
    return Math.max(...help.split("\n").map(({ length }) => length));
  };
  expect(await longest(undefined)).toBeLessThanOrEqual(80);
  expect(await longest(500)).toBeGreaterThan(80);
  expect(await longest(500)).toBeLessThanOrEqual(110);
});
