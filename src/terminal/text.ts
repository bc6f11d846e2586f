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

/** `5,012 chunks`, `1 chunk`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : `${noun}s`}`;
}

/** `1.2 MB`, in powers of 1,000. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** `0.8 s`, `2 min 5 s`, `3 h 12 min`, `4 d 2 h`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** `12 min`, `5 h`, `3 d`: a time in the past, roughly; two days and more in days. */
export function ageText(milliseconds: number): string {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
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
