import { existsSync } from "node:fs";
import { type Problem, UsageError } from "../errors.js";
import { gotText } from "../job/findings.js";
import { brokenBrokerRule } from "../parallel/broker.js";

const units: Readonly<Record<string, number>> = {
  "": 1_000,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The bounds of a duration on the command line, in milliseconds. */
interface DurationBounds {
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

/** The whole number that a flag was given, or a problem of this flag. Both bounds are allowed. */
export function wholeNumberFrom(path: string, given: unknown, least: number, most?: number): number | Problem {
  const number = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : undefined;
  if (number !== undefined && number >= least && number <= (most ?? number)) return number;
  const bounds = most === undefined ? `from ${least}` : `from ${least} to ${most}`;
  return { path, message: `got ${gotText(number ?? given, [])}, expected a whole number ${bounds}` };
}

/** Names of environment variables: an address always has a colon. */
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The address of a broker: the text itself, or the value of the environment variable that it names, which keeps a password out of the
 * list of processes. A problem where it is neither; it never repeats an address, because that may hold a password.
 */
export function brokerFrom(path: string, given: string, env: NodeJS.ProcessEnv): string | Problem {
  const isNamed = variable.test(given);
  const url = isNamed ? env[given] : given;
  if (!url && isNamed)
    return { path, message: `the variable ${given} is not set. Set it to an address such as redis://host:6379` };
  const rule = brokenBrokerRule(url ?? "");
  if (rule === undefined) return url ?? "";
  const expected = "expected an address such as redis://host:6379";
  const message = isNamed
    ? `the variable ${given} holds no address of a broker: ${expected}; ${rule}`
    : `this is no address of a broker: ${expected}, or the name of a variable that holds one; ${rule}`;
  return { path, message };
}

/** The arguments that say which job is meant; each of them is enough to be checked as one. */
interface Named {
  readonly job?: unknown;
  readonly baseUrl?: unknown;
  readonly dataset?: unknown;
  readonly document?: unknown;
  readonly batch?: unknown;
}

/** File names that `kbdump init` and its readers use. */
const usualNames = ["job.yaml", "job.yml", "job.json"];

/** UsageError if a command line names no job at all, with the job file that lies beside it. */
export function checkJobIsNamed(command: string, { job, baseUrl, dataset, document, batch }: Named): void {
  if ([job, baseUrl, dataset, document, batch].some((value) => value !== undefined)) return;
  const found = usualNames.find((name) => existsSync(name));
  const advice = found
    ? `did you mean kbdump ${command} ${found}?`
    : `kbdump init writes one; without a file, give --base-url, --dataset and --document`;
  throw new UsageError(`no job file given; ${advice}`, []);
}
