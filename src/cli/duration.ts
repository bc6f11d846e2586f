import type { Problem } from "../errors.js";

const units: Readonly<Record<string, number>> = {
  "": 1_000,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The bounds of a duration on the command line, in milliseconds. */
export interface DurationBounds {
  readonly least: number;
  readonly most: number;
  /** The bounds in words: `from 0.1 s to 24 h`. */
  readonly text: string;
}

/** The milliseconds that `90`, `90s`, `1.5m`, `2min`, `3h` or `2d` is; a problem of this flag where it is none, or out of bounds. */
export function durationFrom(flag: string, value: unknown, bounds: DurationBounds): number | Problem {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?) ?(s|m|min|h|d|)$/.exec(String(value)) ?? [];
  const milliseconds = digits === "" ? Number.NaN : Number(digits) * (units[unit] ?? Number.NaN);
  if (milliseconds >= bounds.least && milliseconds <= bounds.most) return milliseconds;
  return {
    path: flag,
    message: `got ${JSON.stringify(value)}, expected seconds, or a time such as 30s, 10m or 2h, ${bounds.text}`,
  };
}
