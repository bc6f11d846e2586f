import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { widthOf } from "../../src/cli/display-width.js";
import { renderRun } from "../../src/cli/progress-text.js";
import { openView, type Rendering } from "../../src/cli/progress-view.js";
import { emptyRunProgress } from "../../src/job/run-progress.js";

import { Screen } from "./screen.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A terminal stream like Node's, drawn on a test screen. */
class Terminal extends EventEmitter {
  readonly isTTY = true;
  readonly written: string[] = [];
  readonly screen: Screen;

  constructor(columns: number) {
    super();
    this.screen = new Screen(columns);
  }

  get columns(): number {
    return this.screen.columns;
  }

  readonly write = (text: string) => {
    this.written.push(text);
    this.screen.write(text);
  };

  resize(columns: number): void {
    this.screen.columns = columns;
    this.emit("resize");
  }
}

const open = (output: Parameters<typeof openView>[0]["output"], env: NodeJS.ProcessEnv = { NO_COLOR: "1" }) =>
  openView({ output, env, format: "text", quiet: false, now: () => new Date(2026, 10, 20, 14, 3, 7) });

const quarter = { ...emptyRunProgress(), documents: 3, documentsBegun: 1, pagesExpected: 4, pagesDone: 1 };

test("on a terminal: a bar that is drawn over, cut with an ellipsis, and gone at the end", () => {
  const terminal = new Terminal(60);
  const view = open(terminal, {});
  const stop = view.watch(renderRun({ ...quarter, step: "reading the documents of 漢字漢字漢字漢字漢字漢字" }));
  vi.advanceTimersByTime(250);
  view.log("warn", "odd \u001b[2J thing");
  expect(terminal.written.length).toBeGreaterThan(2);
  const [said, bar = "", ...rest] = terminal.screen.rows;
  expect([said, rest]).toEqual(["warning: odd  [2J thing", []]);
  expect(bar).toMatch(/^━╌+ +8 % {2}reading .*…$/);
  expect(widthOf(bar)).toBeLessThan(60);
  expect(terminal.written.join("")).toContain("\u001b[33mwarning: \u001b[39modd  [2J thing\n");
  stop();
  expect(terminal.screen.rows).toEqual(["warning: odd  [2J thing"]);
});

test("NO_COLOR and TERM=dumb take the colours away", () => {
  for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
    const terminal = new Terminal(60);
    const stop = open(terminal, env).watch(renderRun(emptyRunProgress()));
    vi.advanceTimersByTime(150);
    stop();
    expect(terminal.written.length).toBeGreaterThan(1);
    expect(terminal.written.join("")).not.toContain("\u001b[3");
  }
});

/** Three lines of the maximum width. */
const wide: Rendering = {
  facts: renderRun(emptyRunProgress()).facts,
  lines: () => [],
  block: (_elapsed, { columns }) => ["a", "b", "c"].map((letter) => letter.repeat(columns - 1)),
  drawEvery: 1_000,
};

test.each([
  ["a bar", renderRun(quarter), 1],
  ["a block", wide, 3],
])("a resize draws %s again, and leaves nothing stale at any width", (_name, rendering, height) => {
  const terminal = new Terminal(80);
  const view = open(terminal);
  view.log("info", "said before");
  const stop = view.watch(rendering);
  vi.advanceTimersByTime(1_000);
  for (const columns of [79, 40, 41, 20, 7, 120, 13, 200, 40, 39, 38, 80]) {
    const before = terminal.written.length;
    terminal.resize(columns);
    expect(terminal.written.length).toBe(before + 1);
    const { lines, rows } = terminal.screen;
    expect([columns, lines[0], lines.length]).toEqual([columns, "said before", 1 + height]);
    expect(rows).toHaveLength(Math.ceil("said before".length / columns) + height);
  }
  terminal.screen.columns = 30; // narrower, but the resize event has not arrived yet
  vi.advanceTimersByTime(1_000);
  terminal.resize(30);
  expect(terminal.screen.rows).toHaveLength(1 + height);
  stop();
  expect(terminal.screen.rows).toEqual(["said before"]);
  expect(terminal.listenerCount("resize")).toBe(0);
});

test("outside a terminal: plain lines that start with the time of day; with quiet: nothing", () => {
  const written: string[] = [];
  const output = { isTTY: false, columns: 60, write: (text: string) => written.push(text) };
  const view = open(output);
  view.log("info", "line");
  view.log("warn", "odd \u001b[2J thing");
  const stop = view.watch(renderRun(emptyRunProgress()));
  vi.advanceTimersByTime(10_000);
  stop();
  expect(written).toEqual([
    "14:03:07 line\n",
    "14:03:07 warning: odd  [2J thing\n",
    "14:03:07 starting · 0 chunks · 0 child chunks\n",
  ]);
  written.length = 0;
  const quiet = openView({ output, env: {}, format: "text", quiet: true });
  quiet.log("warn", "line");
  quiet.watch(renderRun(emptyRunProgress()))();
  expect(written).toEqual([]);
});

test.each(["text", "json"] as const)(
  "in a log of format %s, a warning begins with its cause and ends with the URL",
  (format) => {
    const written: string[] = [];
    const view = openView({ output: { write: (text) => written.push(String(text)) }, env: {}, format, quiet: false });
    view.log("warn", "document d failed: GET https://kb.example.com/v1/datasets: 404 not_found");
    expect(written.join("")).toContain("document d failed: 404 not_found (GET https://kb.example.com/v1/datasets)");
  },
);
