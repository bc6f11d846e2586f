import { styleText } from "node:util";
import { jsonText } from "../rows/exact-json.js";
import { blankControls, cutText, escapeControls } from "../safe-text.js";

/** Colours for a terminal, or none. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
}

/** We decide ourselves what is a terminal; styleText would look at stdout. */
const painted = (format: Parameters<typeof styleText>[0]) => (text: string) =>
  styleText(format, text, { validateStream: false });
const plain = (text: string) => text;

/** Colours only where they are wanted: on a terminal, and never with NO_COLOR. */
export function paintFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  if (!stream.isTTY || env.NO_COLOR || env.TERM === "dumb")
    return { good: plain, warn: plain, bad: plain, strong: plain, faint: plain };
  return {
    good: painted("green"),
    warn: painted("yellow"),
    bad: painted("red"),
    strong: painted("bold"),
    faint: painted("dim"),
  };
}

/** A terminal, or a file, that text is printed on. */
export interface Page {
  readonly paint: Paint;
  /** No line of a table is wider; Infinity where it is no terminal, so that nothing is cut. */
  readonly columns: number;
}

export function pageFor(stream: { readonly isTTY?: boolean; readonly columns?: number }, env: NodeJS.ProcessEnv): Page {
  return { paint: paintFor(stream, env), columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY };
}

/** Milliseconds as seconds for programs, to the millisecond; null where they are unknown. */
export function secondsFrom(milliseconds: number): number;
export function secondsFrom(milliseconds: number | null | undefined): number | null;
export function secondsFrom(milliseconds: number | null | undefined): number | null {
  return milliseconds === null || milliseconds === undefined ? null : Math.round(milliseconds) / 1000;
}

/** The local time of day: `14:03:07`. */
export function clockText(time: Date): string {
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** A value as one line of JSON, in which no character can move the cursor; numbers exactly. */
export function jsonLine(value: unknown): string {
  return escapeControls(jsonText(value));
}

/** Text of the service on one line of a terminal: control characters cannot move the cursor or recolour what follows. */
export function terminalText(text: string, length = 200): string {
  return cutText(blankControls(text), length);
}
