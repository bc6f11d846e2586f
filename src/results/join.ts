import * as v from "valibot";
import { count, listOf, result, text } from "./parts.js";
import { runResult } from "./run.js";

/** The result of `kbdump join --json`: that of a run, with the runs that it was joined from. */
export const joinResult = result({
  ...runResult.entries,
  shards: v.pipe(
    listOf(result({ index: count, run_id: text, folder: text })),
    v.description("the runs that were joined, in the order of their shards"),
  ),
});

export type JoinSummary = v.InferOutput<typeof joinResult>;
