import * as v from "valibot";
import { count, result, text } from "./parts.js";

/** The result of `kbdump worker --json`. */
export const workerResult = result({
  status: v.literal("idle"),
  name: text,
  documents: v.pipe(count, v.description("documents that it read whole, and that their run took from it")),
  in_vain: v.pipe(count, v.description("attempts that failed, or in which the document did not hold still")),
  late: v.pipe(count, v.description("documents that another worker read before, or whose run was over")),
  chunks: count,
  child_chunks: count,
  requests: count,
});

export type WorkerSummary = v.InferOutput<typeof workerResult>;
