import type { Log } from "../log.js";
import type { LogLine, ReadFacts, ReadingFacts, RunFacts, WatchFacts } from "../results/log.js";
import { jsonLine, type Paint, paintFor, terminalText } from "./text.js";

/** The stream that progress goes to: stderr, or a stand-in. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** `written` is called when it is, or cannot be. */
  write(text: string, written?: (error?: Error | null) => void): unknown;
}

export interface ViewOptions {
  readonly output: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly format: "text" | "json";
  readonly quiet: boolean;
}

/** A terminal that is drawn on. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
}

/** Renders how far some work is, for each kind of reader. `elapsed` counts milliseconds since somebody began to watch. */
export interface Rendering {
  /** For machines. */
  readonly facts: (elapsed: number) => RunFacts | ReadFacts | WatchFacts;
  /** Lines to print from time to time. */
  readonly lines: (elapsed: number) => readonly string[];
  /** Lines to draw over, at most as many as the screen is high and each narrower than it. */
  readonly block: (elapsed: number, screen: Screen) => readonly string[];
  /** Milliseconds between two drawings. */
  readonly drawEvery: number;
}

/** Readings that say something new: an entry each for machines, lines for people. */
export interface News {
  readonly facts: readonly ReadingFacts[];
  readonly lines: readonly string[];
}

/** Shows somebody how work goes on. */
export interface View {
  readonly log: Log;
  readonly tell: (news: News) => void;
  /** Shows the progress from now on, until the function that it returns is called. */
  readonly watch: (rendering: Rendering) => () => void;
}

/** Lines that are drawn over on a terminal, a line every 10 s otherwise, JSON lines for machines, or nothing. */
export function openView({ output, env, format, quiet }: ViewOptions): View {
  if (quiet) return { log: () => {}, tell: () => {}, watch: () => () => {} };
  if (format === "json") return jsonView(output);
  return output.isTTY ? drawingView(output, env) : lineView(output);
}

const printEvery = 10_000;

function jsonView(output: Output): View {
  const write = (line: LogLine) => output.write(`${jsonLine(line)}\n`);
  const time = () => new Date().toISOString();
  return {
    log: (level, message) => write({ time: time(), level, message }),
    tell: ({ facts }) => {
      for (const each of facts) write({ time: time(), level: "info", message: "reading", ...each });
    },
    watch: ({ facts }) =>
      repeat(printEvery, (elapsed) => write({ time: time(), level: "info", message: "progress", ...facts(elapsed) })),
  };
}

function lineView(output: Output): View {
  const print = (lines: readonly string[]) => {
    for (const line of lines) output.write(`${line}\n`);
  };
  return {
    log: (level, message) => print([`${level === "warn" ? "warning: " : ""}${terminalText(message, 600)}`]),
    tell: ({ lines }) => print(lines),
    watch: ({ lines }) => repeat(printEvery, (elapsed) => print(lines(elapsed))),
  };
}

function drawingView(output: Output, env: NodeJS.ProcessEnv): View {
  const paint = paintFor(output, env);
  const nothing = (): readonly string[] => [];
  let render = nothing;
  let height = 0;
  const draw = (above = "") => {
    const up = height > 1 ? `\x1b[${height - 1}A` : "";
    const clear = height > 0 ? `\r${up}\x1b[J` : "";
    const lines = render();
    height = lines.length;
    output.write(`${clear}${above}${lines.join("\n")}`);
  };
  return {
    log: (level, message) => draw(`${level === "warn" ? paint.bad("warning: ") : ""}${terminalText(message, 600)}\n`),
    tell: () => draw(),
    watch: ({ block, drawEvery }) => {
      const start = performance.now();
      render = () =>
        block(performance.now() - start, { columns: output.columns ?? 80, rows: output.rows ?? 24, paint });
      const stop = repeat(drawEvery, () => draw());
      return () => {
        stop();
        render = nothing;
        draw();
      };
    },
  };
}

/** Calls `work` every so many milliseconds with the time since the start; never keeps the process alive. */
function repeat(every: number, work: (elapsed: number) => void): () => void {
  const start = performance.now();
  const timer = setInterval(() => work(performance.now() - start), every);
  timer.unref();
  return () => clearInterval(timer);
}
