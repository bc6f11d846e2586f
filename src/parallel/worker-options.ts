import * as v from "valibot";
import type { RunOptions } from "../job/open-service.js";
import { count, result, text } from "../schema.js";

/** The signal ends the worker, which returns its documents to the queue and rejects with the signal's reason. */
export interface WorkerOptions extends Required<Pick<RunOptions, "env" | "signal" | "progress" | "log">> {
  /** The address of the broker: `redis://host:6379`. */
  readonly broker: string;
  /** Milliseconds without work until the worker ends; undefined: it waits forever. */
  readonly idle: number | undefined;
  /** Maximum requests of this worker in flight; undefined: the concurrency of the run. */
  readonly inFlight: number | undefined;
  /** The name of the worker in logs. */
  readonly name: string;
}

/** The work of a worker that ended by itself: the result of `kbdump worker --json`. */
export const workerResult = result({
  status: v.literal("idle"),
  name: text,
  documents: v.pipe(count, v.description("documents that it read completely, and that their run accepted")),
  failed: v.pipe(count, v.description("attempts that failed, or in which the document changed")),
  late: v.pipe(count, v.description("documents that another worker read before, or whose run was over")),
  chunks: count,
  child_chunks: count,
  requests: count,
});
export type WorkerResult = v.InferOutput<typeof workerResult>;
