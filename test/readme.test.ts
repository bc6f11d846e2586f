import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exitCodes } from "../src/errors.js";
import { blocksOf, pages } from "./documentation.js";

const readme = readFileSync("README.md", "utf8");

test("README.md is short, and names every other page", () => {
  expect(readme.split("\n").length).toBeLessThanOrEqual(171);
  for (const page of pages.slice(1)) expect(readme).toContain(`](${page})`);
});

test("a new user needs two commands, which come first", () => {
  expect(blocksOf("README.md")[0]?.text).toBe("npm ci && npm start\n");
});

test("contains the test command, and CI runs it", () => {
  expect(readme).toContain("`npm ci && npm test`");
  const ci = readFileSync(".ci/run", "utf8");
  expect(ci).toMatch(/^with_node .* npm ci .*\n.*\nwith_node .* npm test\b/m);
});

test("docs/commands.md has the exit codes that are used, and README.md names them", () => {
  const page = readFileSync("docs/commands.md", "utf8");
  const { complete, failed, usage, partial, differences, busy } = exitCodes;
  for (const code of [complete, failed, usage, partial, differences, busy, "130, 143"]) {
    expect(page).toMatch(new RegExp(`^\\| ${code} \\| `, "m"));
    expect(readme).toMatch(new RegExp(`\\b${code} \\w`));
  }
});
