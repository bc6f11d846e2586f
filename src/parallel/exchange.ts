import { randomUUID } from "node:crypto";
import { forEachOf } from "../files/files.js";
import type { Fingerprint } from "../files/join-segments.js";
import type { SegmentFacts } from "../segments/segment.js";

/** The file that the coordinator of a run writes before it hands out anything. */
export const planFile = "plan.json";

/**
 * The exchange of one run: the place in the output of the job where its workers leave what they read. It is the only
 * truth about their work. A worker that wakes late finds it gone, and changes nothing.
 *
 * - `plan.json`: the run, and what a worker must agree with. Without it, the run is over.
 * - `attempts/<name>.<token>/`: the rows of an attempt to read a document.
 * - `results/<name>.json`: the first complete result of a document, which names the attempt.
 */
export interface Exchange {
  /** The text of a file; undefined where nothing has this key, and empty where something else than a file has it. */
  readonly read: (key: string, options?: ReadOptions) => Promise<string | undefined>;
  /** Makes a folder on this machine for the files of an attempt; undefined where the run is over. */
  readonly begin: (attempt: string) => Promise<string | undefined>;
  /** Lets the coordinator see a file in that folder. StopError where it has other bytes than were written to it. */
  readonly submit: (attempt: string, file: SegmentFacts) => Promise<void>;
  /** Writes a file, whole or not at all. False, and nothing is written, where there is one. */
  readonly create: (key: string, content: string) => Promise<boolean>;
  /** Removes the files of an attempt, but those of the first result. */
  readonly drop: (attempt: string, outcome: Outcome | undefined) => Promise<void>;
}

/** The same for the coordinator, which has the lease of the job. Changes reject once another process has it. */
export interface OwnExchange extends Pick<Exchange, "read"> {
  /** The names right below a key. */
  readonly names: (key: string) => Promise<readonly string[]>;
  /** Writes a file, whole or not at all. It may replace one. */
  readonly write: (key: string, content: string) => Promise<void>;
  /** Brings a file to a path that is free. False, and nothing is there, where it is missing or has other bytes. */
  readonly take: (key: string, path: string, expected: Fingerprint) => Promise<boolean>;
  /** Removes everything, `plan.json` first. */
  readonly remove: () => Promise<void>;
}

interface ReadOptions {
  /** Whether to wait for a store that is gone for a while; it is waited for by default. */
  readonly isPatient: boolean;
}

/** late: the run is over, or it has a result of this document already. */
type Outcome = "first" | "late";

/** The reading of a document that a worker has begun. */
export interface Attempt {
  /** Tells this attempt from every other one at the same document. */
  readonly token: string;
  /** A local folder of its own, which holds nothing else. */
  readonly folder: string;
  /** Submits the files, which are closed, with a result that names them and the token: all of it or nothing. */
  readonly submit: (files: readonly SegmentFacts[], result: string) => Promise<Outcome>;
  /** Removes what the attempt left on this machine. */
  readonly drop: () => Promise<void>;
}

/** Files on their way at once. Of a large one in a bucket, three parts are. */
const atOnce = 3;

/** Begins to read the document of this name; undefined where the run is over. */
export async function beginAttempt(exchange: Exchange, name: string): Promise<Attempt | undefined> {
  const token = randomUUID();
  const attempt = attemptOf(name, token);
  const folder = (await exchange.read(planFile)) === undefined ? undefined : await exchange.begin(attempt);
  if (folder === undefined) return undefined;
  const key = resultKey(name);
  let outcome: Outcome | undefined;
  const find = async (result: string, options?: ReadOptions): Promise<Outcome | undefined> => {
    const found = await exchange.read(key, options);
    if (found !== undefined) return found === result ? "first" : "late";
    return (await exchange.read(planFile, options)) === undefined ? "late" : undefined;
  };
  const submit = async (files: readonly SegmentFacts[], result: string): Promise<Outcome> => {
    try {
      await forEachOf(files, atOnce, (file) => exchange.submit(attempt, file));
      if (await exchange.create(key, result)) return "first";
      return (await find(result)) ?? "late";
    } catch (error) {
      // The answer to our result may be lost, or the end of the run took our files.
      const found = await find(result, { isPatient: false }).catch(() => undefined);
      if (found === undefined) throw error;
      return found;
    }
  };
  return {
    token,
    folder,
    submit: async (files, result) => {
      outcome = (await find(result)) ?? (await submit(files, result));
      return outcome;
    },
    drop: () => exchange.drop(attempt, outcome),
  };
}

export const resultKey = (name: string): string => `results/${name}.json`;

/** The name of the folder of an attempt. */
export const attemptOf = (name: string, token: string): string => `${name}.${token}`;
