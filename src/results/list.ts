import * as v from "valibot";
import { amount, count, listOf, oneOf, orNull, result, text, time, truth } from "./parts.js";

const run = result({
  run_id: text,
  folder: text,
  status: oneOf("complete", "partial"),
  latest: truth,
  started_at: orNull(time),
  finished_at: orNull(time),
  age_seconds: amount,
  seconds: orNull(amount),
  documents: orNull(count),
  chunks: orNull(count),
  child_chunks: orNull(count),
  bytes: count,
  kept_by: v.pipe(
    orNull(listOf(oneOf("newest", "last", "daily", "weekly", "monthly"))),
    v.description("rules of output.keep; empty: the next run removes it; null: no rules are known"),
  ),
});

const job = result({
  job: text,
  folder: text,
  newest_complete: orNull(result({ run_id: text, age_seconds: amount })),
  at_work: v.pipe(
    orNull(result({ pid: orNull(count), host: orNull(text), since: orNull(text) })),
    v.description("the run that is at work; null where none is"),
  ),
  runs: v.pipe(listOf(run), v.description("newest first")),
  ignored: v.pipe(listOf(result({ name: text, why: text })), v.description("folders that are no runs of this job")),
  shards: v.pipe(
    listOf(result({ count, with_run: count, missing: listOf(count), newest_run_id: orNull(text) })),
    v.description(
      "one for each number of shards that the job was divided into; missing: indexes of shards without a run",
    ),
  ),
});

/** The result of `kbdump list --json`. */
export const listResult = result({
  status: v.pipe(oneOf("ok", "stale"), v.description("stale: --max-age is exceeded")),
  jobs: listOf(job),
});

export type ListResult = v.InferOutput<typeof listResult>;
