import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { renderReading } from "../../src/terminal/verify-progress.js";
import { openView } from "../../src/terminal/view.js";
import { withoutTimes } from "../cli/run-kbdump.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function watched(options: { isTTY?: boolean; format?: "text" | "json"; quiet?: boolean }, wait: number): string {
  let text = "";
  const output = { isTTY: options.isTTY ?? false, columns: 60, write: (more: string) => (text += more) };
  const tally = { step: "reading chunks.csv", expected: 200, done: 50 };
  const view = openView({
    output,
    env: { NO_COLOR: "1" },
    format: options.format ?? "text",
    quiet: options.quiet ?? false,
  });
  const stop = view.watch(renderReading(tally));
  vi.advanceTimersByTime(wait);
  stop();
  vi.advanceTimersByTime(60_000);
  return text;
}

test("a line every 10 s where there is no terminal", () => {
  expect(withoutTimes(watched({}, 25_000))).toBe(
    "25 % · reading chunks.csv · 30.0 s left\n25 % · reading chunks.csv · 1 min 0 s left\n",
  );
  expect(watched({}, 9000)).toBe("");
});

test("a bar on a terminal, which is removed at the end and never wider than it", () => {
  const drawn = watched({ isTTY: true }, 2000).split("\r\x1b[J").map(stripVTControlCharacters);
  expect(drawn).toHaveLength(21);
  expect(drawn[0]).toBe("━━━╌╌╌╌╌╌╌╌╌  25 %  reading chunks.csv · 0.3 s left\r");
  expect(drawn.at(-1)).toBe("");
  for (const line of drawn) expect(line.trimEnd().length).toBeLessThan(60);
});

test("JSON lines for machines, and nothing at all", () => {
  expect(JSON.parse(watched({ format: "json" }, 10_000))).toEqual({
    time: expect.any(String),
    level: "info",
    message: "progress",
    step: "reading chunks.csv",
    share: 0.25,
    elapsed_seconds: 10,
    remaining_seconds: 30,
  });
  expect(watched({ quiet: true, isTTY: true }, 100_000)).toBe("");
});
