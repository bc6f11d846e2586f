import type { Log } from "../log.js";
import type { LogLine, ProgressFacts, ReadingFacts } from "./log-schema.js";
import { clockText, jsonLine, type Paint, paintFor, terminalText } from "./text.js";

/** The stream that progress goes to: stderr, or a stand-in. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Calls the listener when the terminal has another size. */
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
  /** `written` is called when it is, or cannot be. */
  write(text: string, written?: (error?: Error | null) => void): unknown;
}

interface ViewOptions {
  readonly output: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly format: "text" | "json";
  readonly quiet: boolean;
  readonly now?: () => Date;
}

/** A terminal that is drawn on. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
}

/** Renders how far some work is, for each kind of reader. `elapsed` counts milliseconds since the watch began. */
export interface Rendering {
  /** For machines. */
  readonly facts: (elapsed: number) => ProgressFacts;
  /** Lines to print from time to time. */
  readonly lines: (elapsed: number) => readonly string[];
  /** Lines to draw over, at most as many as the screen is high and each narrower than it. */
  readonly block: (elapsed: number, screen: Screen) => readonly string[];
  /** Milliseconds between two drawings. */
  readonly drawEvery: number;
  /** Whether the work may wait for days: nothing is printed twice then. */
  readonly isEndless?: boolean;
}

/** Readings that say something new: an entry each for machines, lines for people. */
export interface News {
  readonly facts: readonly ReadingFacts[];
  readonly lines: readonly string[];
}

/** Shows progress and messages. */
export interface View {
  readonly log: Log;
  readonly report: (news: News) => void;
  /** Shows the progress from now on, until the function that it returns is called. */
  readonly watch: (rendering: Rendering) => () => void;
}

/** Lines that are drawn over on a terminal, a line every 10 s otherwise, JSON lines for machines, or nothing. */
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
    log: (level, message) => write({ time: time(), level, message }),
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

/** Every line begins with the time of day, as a log is read long after. */
function lineView(output: Output, now: () => Date): View {
  const print = (lines: readonly string[]) => {
    for (const line of lines) output.write(`${clockText(now())} ${line}\n`);
  };
  return {
    log: (level, message) => print([`${level === "warn" ? "warning: " : ""}${terminalText(message, 600)}`]),
    report: ({ lines }) => print(lines),
    watch: ({ lines, isEndless }) => lookAndPrint(lines, print, isEndless && ((found) => found.join("\n"))),
  };
}

const clearBelow = "\r\x1b[J";
/**
 * After a resize, a block of several lines may stand anywhere: xterm.js, which is the terminal of VS Code, moves the cursor for
 * every line that it wraps again.
 */
const clearScreen = "\x1b[2J\x1b[H";
/** Log lines that are written again on a cleared screen. */
const mostSaid = 10;

/**
 * Lines that the next drawing clears. The cursor goes back to their beginning, where it stays in any width that the terminal is
 * given meanwhile, however it wraps the lines then; and no line is wrapped while it is written.
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
    log: (level, message) => say(`${level === "warn" ? paint.warn("warning: ") : ""}${terminalText(message, 600)}\n`),
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
 * Looks every second, so that a rate can be measured, and prints every tenth time. `newsIn`: the text in which two prints differ; what
 * has the same is not printed again.
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

/** Calls `work` every so many milliseconds with the time since the start; never keeps the process alive. */
function repeat(every: number, work: (elapsed: number) => void): () => void {
  const start = performance.now();
  const timer = setInterval(() => work(performance.now() - start), every);
  timer.unref();
  return () => clearInterval(timer);
}
