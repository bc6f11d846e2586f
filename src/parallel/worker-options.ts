import * as v from "valibot";
import type { RunProgress } from "../job/run-progress.js";
import type { Log } from "../log.js";
import { count, result, text } from "../schema.js";

export interface WorkerOptions {
  /** The address of the broker: `redis://host:6379`. */
  readonly broker: string;
  /** The environment in which the key is looked up. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends the worker: it gives back the documents that it has; its reason is what the worker rejects with. */
  readonly signal: AbortSignal;
  /** Filled while the worker works. */
  readonly progress: RunProgress;
  readonly log: Log;
  /** Milliseconds without work after which the worker ends; by default it waits for good. */
  readonly idle: number | undefined;
  /** Requests in flight of this worker at the most; by default as many as the service takes. */
  readonly inFlight: number | undefined;
  /** The name of the worker in logs. */
  readonly name: string;
}

/** The sum of what a worker did, when it ends by itself: the result of `kbdump worker --json`. */
export const workerResult = result({
  status: v.literal("idle"),
  name: text,
  documents: v.pipe(count, v.description("documents that it read whole, and that their run took from it")),
  failed: v.pipe(count, v.description("attempts that failed, or in which the document did not hold still")),
  late: v.pipe(count, v.description("documents that another worker read before, or whose run was over")),
  chunks: count,
  child_chunks: count,
  requests: count,
});
export type WorkerResult = v.InferOutput<typeof workerResult>;
