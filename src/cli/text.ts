import { styleText } from "node:util";
import { jsonText } from "../rows/exact-json.js";
import { blankControls, cutText, escapeControls } from "../safe-text.js";
import { causeFirst } from "../words.js";

const formats = { good: "green", warn: "yellow", bad: "red", strong: "bold", faint: "dim" } as const;

/** Colours for a terminal, or none. */
export type Paint = Readonly<Record<keyof typeof formats, (text: string) => string>>;

export const plain = (text: string) => text;

/** Uses colours only on a terminal and without NO_COLOR. */
export function paintFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const hasColours = stream.isTTY && !env.NO_COLOR && env.TERM !== "dumb"; // styleText would look at stdout
  const painted = (name: keyof typeof formats) =>
    hasColours ? (text: string) => styleText(formats[name], text, { validateStream: false }) : plain;
  return {
    good: painted("good"),
    warn: painted("warn"),
    bad: painted("bad"),
    strong: painted("strong"),
    faint: painted("faint"),
  };
}

/** The target of printed text: a terminal or a file. */
export interface Page {
  readonly paint: Paint;
  /** The maximum width of a table line; Infinity if it is not a terminal, so that nothing is truncated. */
  readonly columns: number;
}

export function pageFor(stream: { readonly isTTY?: boolean; readonly columns?: number }, env: NodeJS.ProcessEnv): Page {
  return { paint: paintFor(stream, env), columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY };
}

/** Milliseconds as seconds for JSON, with three decimals; null if unknown. */
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

/** A value as one line of JSON, with exact numbers and without characters that could move the cursor. */
export function jsonLine(value: unknown): string {
  return escapeControls(jsonText(value));
}

/** Text of the service on one terminal line, without control characters that could move the cursor or change colours. */
export function terminalText(text: string, length = 200): string {
  return cutText(blankControls(text), length);
}

/** A message on one terminal line, with its cause first. */
export function messageText(message: string, length = 600): string {
  return terminalText(causeFirst(message), length);
}
