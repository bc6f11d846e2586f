import type { Problem } from "../../errors.js";
import { gotText } from "../../job/findings.js";

/** The whole number that a flag was given, or a problem of this flag. Both bounds are allowed. */
export function wholeNumberFrom(path: string, given: unknown, least: number, most?: number): number | Problem {
  const number = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : undefined;
  if (number !== undefined && number >= least && number <= (most ?? number)) return number;
  const bounds = most === undefined ? `from ${least}` : `from ${least} to ${most}`;
  return { path, message: `got ${gotText(number ?? given, [])}, expected a whole number ${bounds}` };
}
