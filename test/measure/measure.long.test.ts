import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test.each([
  ["copy-rows.mjs", ["40", "1"], /^40 chunks, \d+ requests of 1 ms/],
  ["history.mjs", ["600", "2"], /^run 0: .*\nrun 1: .*\nrun 2: .* of one run/],
  ["report.mjs", ["200", "50"], /^with verification: [\d.]+ s.*\nwithout: [\d.]+ s/],
])("%s measures a small case", async (script, args, printed) => {
  const { stdout } = await promisify(execFile)(process.execPath, [`test/measure/${script}`, ...args]);
  expect(stdout).toMatch(printed);
});
