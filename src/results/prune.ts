import * as v from "valibot";
import { count, listOf, oneOf, result, text, truth } from "./parts.js";

const run = result({ run_id: text, status: oneOf("complete", "partial"), bytes: count, reasons: listOf(text) });

/** The result of `kbdump prune --json`. */
export const pruneResult = result({
  status: v.pipe(oneOf("complete", "partial"), v.description("partial: some runs could not be removed")),
  job: text,
  dry_run: truth,
  kept: listOf(run),
  removed: listOf(run),
  failed: listOf(result({ run_id: text, error: text })),
  ignored: v.pipe(listOf(result({ name: text, why: text })), v.description("folders that are no runs of this job")),
  set_aside: v.pipe(truth, v.description("whether old unfinished work is removed, too")),
});

export type PruneSummary = v.InferOutput<typeof pruneResult>;
