import { existsSync } from "node:fs";
import { mostShards } from "../dump/manifest.js";
import { type Problem, UsageError } from "../errors.js";
import { gotText } from "../job/got-text.js";
import type { Shard } from "../job/job.js";
import { brokenBrokerRule } from "../parallel/broker.js";

const units: Readonly<Record<string, number>> = {
  "": 1_000,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The limits of a duration flag, in milliseconds. */
interface DurationBounds {
  readonly least: number;
  readonly most: number;
  /** The limits in words: `from 0.1 s to 24 h`. */
  readonly text: string;
}

/** Parses `90`, `90s`, `1.5m`, `2min`, `3h` or `2d` to milliseconds. Returns a problem of this flag if it is invalid or out of range. */
export function durationFrom(flag: string, value: unknown, bounds: DurationBounds): number | Problem {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?) ?(s|m|min|h|d|)$/.exec(String(value)) ?? [];
  const milliseconds = digits === "" ? Number.NaN : Number(digits) * (units[unit] ?? Number.NaN);
  if (milliseconds >= bounds.least && milliseconds <= bounds.most) return milliseconds;
  return {
    path: flag,
    message: `got ${JSON.stringify(value)}, expected seconds, or a time such as 30s, 10m or 2h, ${bounds.text}`,
  };
}

/** The declaration of an option that takes a time, and arrives in milliseconds. */
export function durationOption(bounds: DurationBounds) {
  return { value: "TIME", read: (given: string, path: string) => durationFrom(path, given, bounds) } as const;
}

/** Parses a whole number. Returns a problem of this flag if it is invalid or out of range (inclusive). */
export function wholeNumberFrom(path: string, given: unknown, least: number, most?: number): number | Problem {
  const number = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : undefined;
  if (number !== undefined && number >= least && number <= (most ?? number)) return number;
  const bounds = most === undefined ? `from ${least}` : `from ${least} to ${most}`;
  return { path, message: `got ${gotText(number ?? given, [])}, expected a whole number ${bounds}` };
}

/** Kubernetes numbers the pods of an Indexed Job from 0: https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode */
const indexVariable = "JOB_COMPLETION_INDEX";

/** Parses `3/16`, or `auto/16` in a Kubernetes pod. Returns the problem with anything else. */
export function shardFrom(given: string, env: NodeJS.ProcessEnv): Shard | Problem {
  const expected = `expected such as 3/16, the third of 16 shards, or auto/16 in a pod of an Indexed Job; at most ${mostShards} shards`;
  const problem = { path: "--shard", message: `got ${gotText(given, [])}, ${expected}` };
  const [, part = "", digits = ""] = /^(\d{1,5}|auto)\/(\d{1,5})$/.exec(given) ?? [];
  const count = Number(digits);
  if (part === "" || count < 1 || count > mostShards) return problem;
  const index = part === "auto" ? indexFrom(env[indexVariable], count) : Number(part);
  if (typeof index !== "number") return index;
  return index >= 1 && index <= count ? { index, count } : problem;
}

/** The index from 1, or the problem with it. */
function indexFrom(given: string | undefined, count: number): number | Problem {
  if (given !== undefined && /^\d{1,5}$/.test(given) && Number(given) < count) return Number(given) + 1;
  const got = given === undefined ? "it is not set" : `it is ${gotText(given, [])}`;
  const message = `auto takes the index from ${indexVariable}, which Kubernetes sets in the pods of an Indexed Job: ${got}, expected 0 to ${count - 1}`;
  return { path: "--shard", message };
}

/** Names of environment variables. They cannot be confused with addresses, which always have a colon. */
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The address of a broker: the text itself, or the value of the environment variable that it names, which keeps a password out of
 * the process list. Returns a problem if it is neither. The problem never shows an address, because that may include a password.
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
    ? `the variable ${given} holds no broker address: ${expected}; ${rule}`
    : `this is not an address of a broker: ${expected}, or the name of a variable that holds one; ${rule}`;
  return { path, message };
}

/** The arguments that select a job. Each is enough on its own. */
interface Named {
  readonly job?: unknown;
  readonly baseUrl?: unknown;
  readonly dataset?: unknown;
  readonly document?: unknown;
  readonly batch?: unknown;
}

/** The usual names of job files, also used by `kbdump init`. */
const usualNames = ["job.yaml", "job.yml", "job.json"];

/** Throws UsageError if a command line names no job, suggesting a job file in the current folder. */
export function checkJobIsNamed(command: string, { job, baseUrl, dataset, document, batch }: Named): void {
  if ([job, baseUrl, dataset, document, batch].some((value) => value !== undefined)) return;
  const found = usualNames.find((name) => existsSync(name));
  const advice = found
    ? `did you mean kbdump ${command} ${found}?`
    : `kbdump init writes one; without a file, give --base-url, --dataset and --document`;
  throw new UsageError(`no job file given; ${advice}`, []);
}
