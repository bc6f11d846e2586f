import { randomUUID } from "node:crypto";
import { forEachOf } from "../files/files.js";
import type { Fingerprint } from "../files/join-segments.js";
import type { SegmentFacts } from "../segments/segment.js";

/** The file that a run's coordinator writes before it hands out documents. */
export const planFile = "plan.json";

/**
 * The exchange of one run: the part of the job's output where its workers leave their results. Only the exchange decides
 * which work is done. A worker that wakes up late finds it gone, and changes nothing.
 *
 * - `plan.json`: the run, and what a worker must agree with. Without it, the run is over.
 * - `attempts/<name>.<token>/`: the rows of an attempt to read a document.
 * - `results/<name>.json`: the first complete result of a document, which names the attempt.
 */
export interface Exchange {
  /**
   * The text of a file; undefined if the key does not exist, and empty if it is not a file. `isPatient`: whether to wait during an
   * outage of the store; default: true.
   */
  readonly read: (key: string, isPatient?: boolean) => Promise<string | undefined>;
  /** Makes the local folder for the files of an attempt; undefined if the run is over. */
  readonly begin: (attempt: string) => Promise<string | undefined>;
  /** Makes a file of the attempt visible to the coordinator. Throws StopError if its bytes differ from what was written. */
  readonly submit: (attempt: string, file: SegmentFacts) => Promise<void>;
  /** Writes the result of an attempt atomically. Returns false, and writes nothing, if the key exists. */
  readonly create: (attempt: string, key: string, content: string) => Promise<boolean>;
  /** Removes the files of an attempt. Keeps those that the coordinator needs if this attempt had the first result. */
  readonly drop: (attempt: string, outcome: Outcome | undefined) => Promise<void>;
}

/** The exchange for the coordinator, which has the lease of the job. Changes reject once another process has the lease. */
export interface OwnExchange extends Pick<Exchange, "read"> {
  /** The names directly below a key. */
  readonly names: (key: string) => Promise<readonly string[]>;
  /** Writes a file atomically. May replace a file. */
  readonly write: (key: string, content: string) => Promise<void>;
  /** Copies or links a file to a path, replacing what is there. Returns false, and leaves no file, if it is missing or has other bytes. */
  readonly take: (key: string, path: string, expected: Fingerprint) => Promise<boolean>;
  /** Removes the whole exchange, `plan.json` first. */
  readonly remove: () => Promise<void>;
}

/** How a worker's result arrived. first: it counts. late: the run is over, or already has a result for this document. */
type Outcome = "first" | "late";

/** A worker's attempt to read a document. */
export type Attempt = NonNullable<Awaited<ReturnType<typeof beginAttempt>>>;

/** Files to transfer at once. A large file in a bucket is sent in three parts at once. */
const atOnce = 3;

/** Starts an attempt to read the document with this name; undefined if the run is over. */
export async function beginAttempt(exchange: Exchange, name: string) {
  const token = randomUUID();
  const attempt = attemptOf(name, token);
  const folder = (await exchange.read(planFile)) === undefined ? undefined : await exchange.begin(attempt);
  if (folder === undefined) return undefined;
  const key = resultKey(name);
  let outcome: Outcome | undefined;
  const find = async (result: string, isPatient?: boolean): Promise<Outcome | undefined> => {
    const found = await exchange.read(key, isPatient);
    if (found !== undefined) return found === result ? "first" : "late";
    return (await exchange.read(planFile, isPatient)) === undefined ? "late" : undefined;
  };
  const submit = async (files: readonly SegmentFacts[], result: string): Promise<Outcome> => {
    try {
      await forEachOf(files, atOnce, (file) => exchange.submit(attempt, file));
      if (await exchange.create(attempt, key, result)) return "first";
      return (await find(result)) ?? "late";
    } catch (error) {
      // The answer to our write of the result may be lost, or the end of the run removed our files.
      const found = await find(result, false).catch(() => undefined);
      if (found === undefined) throw error;
      return found;
    }
  };
  return {
    /** Distinguishes this attempt from others at the same document. */
    token,
    /** The local folder for this attempt only. */
    folder,
    /** Submits the closed files, with a result that contains their names and the token, atomically. */
    submit: async (files: readonly SegmentFacts[], result: string): Promise<Outcome> => {
      outcome = (await find(result)) ?? (await submit(files, result));
      return outcome;
    },
    /** Removes the attempt's local files. */
    drop: () => exchange.drop(attempt, outcome),
  };
}

export const resultKey = (name: string): string => `results/${name}.json`;

/** The folder name of an attempt. */
export const attemptOf = (name: string, token: string): string => `${name}.${token}`;
