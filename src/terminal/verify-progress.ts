import type { ReadTally } from "../read-tally.js";
import { renderBar } from "./progress.js";
import { durationText, paintFor } from "./text.js";
import type { ViewOptions } from "./view.js";

const lineEvery = 10_000;
const barEvery = 100;
const clear = "\r\x1b[2K";

/** Where a verification stands after `elapsed` milliseconds. */
export interface VerifyProgress {
  readonly step: string;
  /** From 0 to 1. */
  readonly share: number;
  /** Milliseconds to go; undefined as long as nothing can be said. */
  readonly left: number | undefined;
}

export function verifyProgressOf({ step, expected, done }: ReadTally, elapsed: number): VerifyProgress {
  const share = expected > 0 ? Math.min(1, done / expected) : 0;
  return { step, share, left: share < 0.01 ? undefined : elapsed / share - elapsed };
}

/** `reading chunks.csv · 5.0 s left` */
export function renderVerifyProgress({ step, left }: VerifyProgress): string {
  return left === undefined || left < 100 ? step : `${step} · ${durationText(left)} left`;
}

/** Shows the tally until the function that it gives is called: a bar, a line every 10 s, JSON lines or nothing. */
export function watchVerify(tally: ReadTally, options: ViewOptions): () => void {
  const { output, format, quiet } = options;
  if (quiet) return () => {};
  const isBar = format === "text" && output.isTTY === true;
  const start = performance.now();
  const show = () => output.write(shown(verifyProgressOf(tally, performance.now() - start), options));
  const timer = setInterval(show, isBar ? barEvery : lineEvery);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (isBar) output.write(clear);
  };
}

function shown(progress: VerifyProgress, { output, env, format }: ViewOptions): string {
  if (format === "json") {
    return `${JSON.stringify({ time: new Date().toISOString(), level: "info", message: "progress", ...progress })}\n`;
  }
  const text = renderVerifyProgress(progress);
  if (!output.isTTY) return `${Math.floor(progress.share * 100)} % · ${text}\n`;
  const columns = output.columns ?? 80;
  const bar = renderBar(progress.share, columns < 100 ? 12 : 24);
  return `${clear}${paintFor(output, env).good(bar)}  ${text.slice(0, Math.max(0, columns - bar.length - 3))}`;
}
