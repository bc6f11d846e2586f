import * as v from "valibot";
import { count, object, pattern, text } from "../../schema.js";

/** The file of a shard's run folder that lists the documents of all shards, in the order of the job. */
export const listName = "list.json";

/** The part of a job that a run read, as its manifest says it. A whole run has none. */
export const shardSchema = object({
  /** From 1. */
  index: v.pipe(count, v.minValue(1, "a whole number from 1")),
  count: v.pipe(count, v.minValue(1, "a whole number from 1")),
  /** The hash of the job and the version of the tool: the same for all shards of a run. */
  plan: text,
  /** The documents of all shards, and the hash of the file that lists them. */
  list: object({ documents: count, sha256: pattern("a SHA-256", /^[0-9a-f]{64}$/) }),
});

export type ManifestShard = v.InferOutput<typeof shardSchema>;
