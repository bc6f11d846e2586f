import type { Log } from "../log.js";
import { causeFirst } from "../words.js";
import { wrapToWidth } from "./display-width.js";
import type { LogLine, ProgressFacts, ReadingFacts } from "./log-schema.js";
import { clockText, jsonLine, messageText, type Paint, paintFor } from "./text.js";

/** The stream for progress: stderr, or a substitute. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Calls the listener when the terminal is resized. */
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
  /** `written` is called after the write succeeds or fails. */
  write(text: string | Uint8Array, written?: (error?: Error | null) => void): unknown;
}

interface ViewOptions {
  readonly output: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly format: "text" | "json";
  readonly quiet: boolean;
  readonly now?: () => Date;
}

/** The terminal to draw on. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
}

/** Renders progress for each kind of output. `elapsed` is in milliseconds since the start. */
export interface Rendering {
  /** The progress as numbers, for `--log-format json`. */
  readonly facts: (elapsed: number) => ProgressFacts;
  /** Lines to print periodically. */
  readonly lines: (elapsed: number) => readonly string[];
  /** Lines that are redrawn in place: at most as many as the screen is high, and each narrower than it. */
  readonly block: (elapsed: number, screen: Screen) => readonly string[];
  /** Milliseconds between redraws. */
  readonly drawEvery: number;
  /** Whether the task may wait for days. Then nothing is printed twice. */
  readonly isEndless?: boolean;
}

/** New results: `facts` has an entry for each, for JSON; `lines` is for people. */
export interface News {
  readonly facts: readonly ReadingFacts[];
  readonly lines: readonly string[];
}

/** Shows progress and messages. */
export interface View {
  readonly log: Log;
  readonly report: (news: News) => void;
  /** Shows the progress until the returned function is called. */
  readonly watch: (rendering: Rendering) => () => void;
}

/** Opens the view: redrawn lines on a terminal, otherwise a line every 10 s, JSON lines, or nothing. */
export function openView({ output, env, format, quiet, now = () => new Date() }: ViewOptions): View {
  if (quiet) return { log: () => {}, report: () => {}, watch: () => () => {} };
  if (format === "json") return jsonView(output, now);
  return output.isTTY ? drawingView(output, env) : lineView(output, now);
}

const printEvery = 10_000;

function jsonView(output: Output, now: () => Date): View {
  const write = (line: LogLine) => output.write(`${jsonLine(line)}\n`);
  const time = () => now().toISOString();
  return {
    log: (level, message) => write({ time: time(), level, message: causeFirst(message) }),
    report: ({ facts }) => {
      for (const each of facts) write({ time: time(), level: "info", message: "reading", ...each });
    },
    watch: ({ facts, isEndless }) =>
      lookAndPrint(
        facts,
        (found) => write({ time: time(), level: "info", message: "progress", ...found }),
        isEndless && (({ elapsed_seconds, ...news }) => JSON.stringify(news)),
      ),
  };
}

/** Starts every line with the time of day, because logs are read much later. */
function lineView(output: Output, now: () => Date): View {
  const print = (lines: readonly string[]) => {
    for (const line of lines) output.write(`${clockText(now())} ${line}\n`);
  };
  return {
    log: (level, message) => print([`${level === "warn" ? "warning: " : ""}${messageText(message)}`]),
    report: ({ lines }) => print(lines),
    watch: ({ lines, isEndless }) => lookAndPrint(lines, print, isEndless && ((found) => found.join("\n"))),
  };
}

const clearBelow = "\r\x1b[J";
/**
 * Clears the screen after a resize. The view cannot find its lines then: xterm.js, the terminal of VS Code, moves the cursor for
 * every line that it rewraps.
 */
const clearScreen = "\x1b[2J\x1b[H";
/** How many recent log lines to print again after the screen was cleared. */
const mostSaid = 10;

/**
 * Text for lines that the next redraw clears. Auto-wrap is off while they are written, and the cursor ends on the first line, so that
 * rewrapping after a resize does not move it.
 */
function blockText(lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const up = lines.length > 1 ? `\x1b[${lines.length - 1}A` : "";
  return `\x1b[?7l${lines.join("\n")}\x1b[?7h\r${up}`;
}

function drawingView(output: Output, env: NodeJS.ProcessEnv): View {
  const paint = paintFor(output, env);
  const nothing = (): readonly string[] => [];
  let render = nothing;
  let drawn = 0;
  let said: readonly string[] = [];
  const draw = (above = "", clear = drawn > 0 ? clearBelow : "") => {
    const lines = render();
    output.write(`${clear}${above}${blockText(lines)}`);
    drawn = lines.length;
  };
  const say = (line: string) => {
    said = [...said, line].slice(-mostSaid);
    draw(line);
  };
  const redraw = () => (drawn > 1 ? draw(said.join(""), clearScreen) : draw());
  return {
    log: (level, message) => {
      const line = `${level === "warn" ? paint.warn("warning: ") : ""}${messageText(message)}`;
      say(`${wrapToWidth(line, output.columns ?? 80, "  ").join("\n")}\n`);
    },
    report: () => draw(),
    watch: ({ block, drawEvery }) => {
      const start = performance.now();
      render = () =>
        block(performance.now() - start, { columns: output.columns ?? 80, rows: output.rows ?? 24, paint });
      const stop = repeat(drawEvery, () => draw());
      output.on?.("resize", redraw);
      return () => {
        stop();
        output.off?.("resize", redraw);
        render = nothing;
        draw();
      };
    },
  };
}

/**
 * Renders every second, to measure a rate, and prints every tenth time. `newsIn` returns the text that must have changed since the
 * last print; without it, prints every time.
 */
function lookAndPrint<Found>(
  look: (elapsed: number) => Found,
  print: (found: Found) => void,
  newsIn: ((found: Found) => string) | undefined | false,
): () => void {
  let looks = 0;
  let printed: string | undefined;
  return repeat(1_000, (elapsed) => {
    const found = look(elapsed);
    looks++;
    if (looks % (printEvery / 1_000) !== 0) return;
    const news = newsIn ? newsIn(found) : undefined;
    if (news === undefined || news !== printed) print(found);
    printed = news;
  });
}

/** Calls `work` at this interval with the time since the start. Does not keep the process alive. */
function repeat(every: number, work: (elapsed: number) => void): () => void {
  const start = performance.now();
  const timer = setInterval(() => work(performance.now() - start), every);
  timer.unref();
  return () => clearInterval(timer);
}
