import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { inFull } from "../rounds.js";
import { cellsOf, nameOf } from "./case-names.js";
import { fullCases, quickCases } from "./cases.js";
import { chooseLines } from "./choose-lines.js";
import type { Line } from "./run-case.js";
import { tableOf } from "./table.js";

const namesOf = (only: string, quick = false) => chooseLines(quick, only).cases.map(nameOf);

test("every line has a unique name, in the full and the quick benchmark", () => {
  for (const cases of [fullCases, quickCases]) expect(new Set(cases.map(nameOf)).size).toBe(cases.length);
  expect(fullCases.map(nameOf)).toEqual(expect.arrayContaining(quickCases.map(nameOf)));
});

test("--only with the name of a line selects only that line", () => {
  for (const quick of [true, false])
    for (const each of quick ? quickCases : fullCases) expect(namesOf(nameOf(each), quick)).toEqual([nameOf(each)]);
  expect(chooseLines(false, "start-up")).toEqual({ cases: [], startUp: true });
});

test("--only with part of a name or cell selects all matching lines, without start-up", () => {
  expect(namesOf("1x100k-50ms-16")).toHaveLength(6);
  expect(namesOf("120,000")).toEqual(["120kx1-0ms-8-jsonl"]);
  expect(namesOf("hierarchy")).toHaveLength(9);
  expect(namesOf("20 ms")).toEqual(["2kx1-20ms-8-jsonl", "20x100-lists-20ms-8-jsonl", "1x20k-lists-20ms-8-jsonl"]);
  for (const each of fullCases) for (const cell of cellsOf(each)) expect(namesOf(cell)).toContain(nameOf(each));
  expect(chooseLines(false, "hierarchy").startUp).toBe(false);
});

test.runIf(inFull)("--only without a matching line fails and lists the names", async () => {
  expect(() => chooseLines(true, "10 million")).toThrow(
    /^The quick bench has no line "10 million"\. Its lines:\n {2}1x100k-50ms-16-duckdb\n(.*\n)* {2}start-up$/,
  );
  const started = promisify(execFile)(process.execPath, ["test/bench/main.mjs", "--only", "10 million"]);
  await expect(started).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^The bench has no line "10 million"\. Its lines:\n {2}1x100k-50ms-8-jsonl\n/),
  });
});

test("the tables stay below 200 columns, even with the figures of another checkout", () => {
  const served = { cpu: 100.5, pages: 20_000, childLists: 20_000, others: 1 };
  const measured = { wall: 234.5, floor: 100, ratio: 12.3, rows: 1_000_000, cpu: 234.5, rss: 1e9, served };
  const lines = fullCases.map((each): Line => ({ ...each, ...measured, name: nameOf(each), before: measured }));
  const widths = tableOf(lines)
    .split("\n")
    .map(({ length }) => length);
  expect(Math.max(...widths)).toBeLessThan(200);
});
