import * as v from "valibot";
import { count, listOf, object, pattern, text } from "../../schema.js";

/** The file of a shard's run folder that lists the documents of all shards, in the order of the job. */
export const listName = "list.json";

const sha256 = pattern("a SHA-256", /^[0-9a-f]{64}$/);
/** The most shards that a run can be divided into. */
export const mostShards = 10_000;

/** The place of a shard, or how many there are. */
const numberOfShard = v.pipe(
  count,
  v.minValue(1, "a whole number from 1"),
  v.maxValue(mostShards, `at most ${mostShards}`),
);

/** The part of a job that a run read, as its manifest says it. A whole run has none. */
export const shardSchema = object({
  /** From 1. */
  index: numberOfShard,
  count: numberOfShard,
  /** The hash of the job and the version of the tool: the same for all shards of a run. */
  plan: text,
  /** The documents of all shards, and the size and hash of the file that lists them. */
  list: object({ documents: count, bytes: count, sha256 }),
});

export type ManifestShard = v.InferOutput<typeof shardSchema>;

/** The runs that a dump was joined from, in the order of their shards. */
export const joinedSchema = object({
  shards: listOf(object({ index: numberOfShard, run_id: text, manifest_sha256: sha256 })),
});

export type ManifestJoined = v.InferOutput<typeof joinedSchema>;
