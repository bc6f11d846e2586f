import * as v from "valibot";

import { drift, requests, rowCounts, rowOf } from "../../rows/result-rows.js";
import { amount, count, listOf, oneOf, orNull, result, text } from "../../schema.js";

const savedFiles = { complete: count, wrong_size: count, missing: count, bytes: count };

/** The result of `kbdump run --json`. */
export const runResult = result({
  status: oneOf("complete", "partial"),
  job: text,
  run_id: text,
  folder: text,
  database: v.pipe(orNull(text), v.description("null if the job writes none, or if it could not be replaced")),
  report: v.pipe(orNull(text), v.description("null without --report, or if it could not be written")),
  seconds: amount,
  counts: rowCounts,
  requests: result(requests),
  child_lists: result({
    asked: count,
    embedded: count,
    skipped: count,
    empty: count,
    auto_saves: count,
    auto_misses: count,
  }),
  originals: v.pipe(
    orNull(result(savedFiles)),
    v.description("files that documents were made from; null unless the job asks for originals"),
  ),
  attachments: v.pipe(
    orNull(result(savedFiles)),
    v.description("files attached to chunks; null unless the job asks for originals"),
  ),
  incomplete_documents: v.pipe(
    listOf(result({ ...rowOf("documents").entries, dataset_name: orNull(text), document_name: orNull(text) })),
    v.description("the rows of documents that are not complete"),
  ),
  drift,
  warnings: listOf(text),
  problems: v.pipe(listOf(text), v.description("steps after the publication that failed")),
  removed_runs: v.pipe(listOf(text), v.description("ids of the runs that output.keep removed")),
  discovered: v.pipe(
    orNull(
      result({
        since: orNull(text),
        new: listOf(text),
        vanished: listOf(text),
        datasets: listOf(
          result({ dataset_id: text, name: orNull(text), state: text, documents: count, since: orNull(text) }),
        ),
      }),
    ),
    v.description("null in a shard, and unless the job lists documents"),
  ),
  shard: v.pipe(orNull(result({ index: count, count })), v.description("null without --shard")),
});

export type RunSummary = v.InferOutput<typeof runResult>;
