import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { pause } from "../../client/turn.js";
import type { Writer } from "../../client/write/writer.js";
import type { Log } from "../../log.js";
import type { Journal } from "./journal.js";

/** Counts of a restore so far; a progress view shows them. */
export interface ApplyTally {
  /** Chunks that the plan changes, or whose children it changes. */
  chunks: number;
  chunksDone: number;
  /** Chunks that wait until the service takes changes of them. */
  waiting: number;
}

export interface ApplyOptions {
  readonly api: KnowledgeApi;
  readonly writer: Writer;
  /** It has begun: the undo is named in it. */
  readonly journal: Journal;
  /** Ends between two requests; then it rejects with the reason. */
  readonly signal: AbortSignal;
  /** Documents that are written at once; 4 by default. */
  readonly concurrency?: number;
  /** Seconds for which a lost answer is looked for; 60 by default. */
  readonly settle?: number;
  /** Seconds for which the service may lock a document while it adds chunks; 600 by default. */
  readonly lockTime?: number;
  readonly log?: Log;
  readonly tally?: ApplyTally;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The options with their defaults. */
export function withDefaults(options: ApplyOptions): Required<ApplyOptions> {
  return {
    concurrency: 4,
    settle: 60,
    lockTime: 600,
    log: () => {},
    tally: { chunks: 0, chunksDone: 0, waiting: 0 },
    now: Date.now,
    ...options,
    sleep: async (milliseconds, signal) => {
      const { sleep = pause } = options;
      await sleep(milliseconds, signal).catch(() => {});
      signal.throwIfAborted();
    },
  };
}
