import type { Log } from "../log.js";
import type { RunTally } from "../run/setting/run-tally.js";
import { progressOf, renderBar, renderProgress } from "./progress.js";
import { jsonLine, type Paint, paintFor, terminalText } from "./text.js";

/** Where progress goes: stderr, or what stands in for it. */
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

/** What somebody sees while a run goes on. */
export interface View {
  readonly log: Log;
  /** Shows the tally from now on, until the function that it gives is called. */
  readonly watch: (tally: RunTally) => () => void;
}

/** A bar on a terminal, a line every 10 s otherwise, JSON lines for machines, or nothing. */
export function openView(options: ViewOptions): View {
  if (options.quiet) return { log: () => {}, watch: () => () => {} };
  if (options.format === "json") return jsonView(options.output);
  return options.output.isTTY ? barView(options) : lineView(options.output);
}

const lineEvery = 10_000;
const barEvery = 100;

function jsonView(output: Output): View {
  const write = (entry: object) => output.write(`${jsonLine({ time: new Date().toISOString(), ...entry })}\n`);
  return {
    log: (level, message) => write({ level, message }),
    watch: (tally) =>
      repeat(lineEvery, (elapsed) => write({ level: "info", message: "progress", ...progressOf(tally, elapsed) })),
  };
}

function lineView(output: Output): View {
  return {
    log: (level, message) => output.write(`${level === "warn" ? "warning: " : ""}${terminalText(message, 600)}\n`),
    watch: (tally) => repeat(lineEvery, (elapsed) => output.write(`${renderProgress(progressOf(tally, elapsed))}\n`)),
  };
}

function barView({ output, env }: ViewOptions): View {
  const paint = paintFor(output, env);
  const clear = "\r\x1b[2K";
  let bar = "";
  return {
    log: (level, message) => {
      const text = terminalText(message, 600);
      output.write(`${clear}${level === "warn" ? paint.bad("warning: ") : ""}${text}\n${bar}`);
    },
    watch: (tally) => {
      const stop = repeat(barEvery, (elapsed) => {
        bar = barLine(tally, elapsed, output.columns ?? 80, paint);
        output.write(clear + bar);
      });
      return () => {
        stop();
        bar = "";
        output.write(clear);
      };
    },
  };
}

function barLine(tally: RunTally, elapsed: number, columns: number, paint: Paint): string {
  const progress = progressOf(tally, elapsed);
  const bar = renderBar(progress.share, columns < 100 ? 12 : 24);
  const room = columns - bar.length - 3;
  return `${paint.good(bar)}  ${renderProgress(progress).slice(0, Math.max(0, room))}`;
}

/** Calls `work` every so many milliseconds with the time since the start; never keeps the process alive. */
export function repeat(every: number, work: (elapsed: number) => void): () => void {
  const start = performance.now();
  const timer = setInterval(() => work(performance.now() - start), every);
  timer.unref();
  return () => clearInterval(timer);
}
