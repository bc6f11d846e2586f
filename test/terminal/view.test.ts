import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { emptyRunTally } from "../../src/run/setting/run-tally.js";
import { renderRun } from "../../src/terminal/progress.js";
import { openView } from "../../src/terminal/view.js";

function outputFor(isTTY: boolean, columns = 60) {
  const written: string[] = [];
  return { written, output: { isTTY, columns, write: (text: string) => written.push(text) } };
}

test("on a terminal: a bar that is drawn over, no wider than the terminal, and gone at the end", async () => {
  const { written, output } = outputFor(true);
  const view = openView({ output, env: {}, format: "text", quiet: false });
  const stop = view.watch(
    renderRun({ ...emptyRunTally(), documents: 3, documentsBegun: 1, pagesExpected: 4, pagesDone: 1 }),
  );
  await sleep(250);
  view.log("warn", "odd \u001b[2J thing");
  stop();
  const text = written.join("");
  const bars = text.split("\r\u001b[J").filter((line) => line.includes("╌"));
  expect(bars.length).toBeGreaterThan(1);
  for (const bar of bars) expect(stripVTControlCharacters(bar).split("\n").at(-1)?.length).toBeLessThan(60);
  expect(text).toContain("\u001b[31mwarning: \u001b[39modd  [2J thing\n");
  expect(written.at(-1)).toBe("\r\u001b[J");
});

test("NO_COLOR takes the colours away", async () => {
  const { written, output } = outputFor(true);
  const view = openView({ output, env: { NO_COLOR: "1" }, format: "text", quiet: false });
  const stop = view.watch(renderRun(emptyRunTally()));
  await sleep(150);
  stop();
  expect(written.length).toBeGreaterThan(1);
  expect(written.join("")).not.toContain("\u001b[3");
});

test("elsewhere: plain lines; with quiet: nothing", () => {
  const plain = outputFor(false);
  openView({ output: plain.output, env: {}, format: "text", quiet: false }).log("info", "line");
  expect(plain.written).toEqual(["line\n"]);
  const quiet = outputFor(true);
  const view = openView({ output: quiet.output, env: {}, format: "text", quiet: true });
  view.log("warn", "line");
  view.watch(renderRun(emptyRunTally()))();
  expect(quiet.written).toEqual([]);
});
