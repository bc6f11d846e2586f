import * as v from "valibot";
import { count, listOf, object, oneOf, openObject, pattern, text, truth } from "../../schema.js";
import { fileFormats } from "../formats/formats.js";
import { partsOfName } from "../formats/name-parts.js";
import { originalSchema } from "./original.js";
import { isRunId } from "./run-id.js";
import { joinedSchema, shardSchema } from "./shard.js";

/** The last file of a run folder: a folder without it is no dump. */
export const manifestName = "manifest.json";

/** The formats of a manifest that this version reads. */
export const manifestFormats = [1, 2] as const;

const time = v.pipe(
  pattern("a UTC time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
  v.check((text) => !Number.isNaN(Date.parse(text)), "a UTC time"),
);

/** The names that runs give their files: no path leads out of the folder. */
const filePath = v.pipe(
  v.string("the name of a file of a dump, such as chunks.jsonl"),
  v.check((path) => partsOfName(path) !== undefined, "the name of a file of a dump, such as chunks.jsonl"),
);

const sha256 = pattern("a SHA-256", /^[0-9a-f]{64}$/);

const file = object({
  path: filePath,
  rows: count,
  bytes: count,
  sha256,
  /** Only of a compressed file: its text. */
  uncompressed: v.exactOptional(object({ bytes: count, sha256 })),
});

export const documentSchema = object({
  dataset_id: text,
  document_id: text,
  doc_form: v.nullable(text),
  status: oneOf("complete", "unstable", "failed"),
  /** Chunks that the service counts; null when it never said. */
  total: v.nullable(count),
  chunk_count: count,
  child_chunk_count: count,
  /** Times that the document was read. */
  sweeps: count,
  error: v.nullable(text),
});

/** Counts of how the chunks of a document came to their children; `asked`, `embedded` and `skipped` add up to its chunks. */
export const childListsSchema = object({
  dataset_id: text,
  document_id: text,
  /** Chunks whose child list was asked for. */
  asked: count,
  /** Chunks whose children were taken from the page of chunks. */
  embedded: count,
  /** Chunks that were taken to have none. */
  skipped: count,
  /** Child lists that were asked for and are empty. */
  empty: count,
  /** Chunks that embedded some children in the page of chunks, taken or not; null in manifests that do not say. */
  embedding: v.nullish(count, null),
  reason: v.nullish(text, ""),
  /** Child lists that `auto` asks for of this document; null where nobody knows, as it moved. */
  auto_asks: v.nullish(count, null),
  /** Child chunks of these that `auto` does not find, as far as the run knows. */
  auto_misses: v.nullish(count, 0),
});

/** The documents that the service listed, compared with earlier runs. */
const discovered = object({
  since: v.nullable(text),
  /** Ids of documents that the run compared with did not have. */
  new: listOf(text),
  /** Ids of documents that it had, and that the service does not list any more. */
  vanished: listOf(text),
  datasets: listOf(
    object({
      dataset_id: text,
      /** Null where the job names the dataset by id. */
      name: v.nullish(text, null),
      state: text,
      documents: count,
      /** The run that its documents were compared with. */
      since: v.nullish(text, null),
    }),
  ),
});

const counts = object({
  chunks: count,
  child_chunks: count,
  documents: count,
  indexing_status: count,
  metadata_fields: count,
  /** Only where the run asked which documents there are. */
  document_info: v.exactOptional(count),
  /** Only with `details: true`. */
  datasets: v.exactOptional(count),
  document_details: v.exactOptional(count),
});

/**
 * The manifest of a dump, of this and of earlier versions: what a run was, and what it left. Members that this version does
 * not know are let pass; those that an earlier version did not write have a default.
 */
export const manifestSchema = object({
  /** 1 until version 0.1; 2 where files are compressed or lie in folders for each dataset. */
  format: v.picklist(manifestFormats, manifestFormats.join(" or ")),
  tool: object({ name: text, version: text }),
  job: pattern("the name of a job", /^[a-z0-9][a-z0-9_-]*$/),
  run_id: v.pipe(v.string("the id of a run"), v.check(isRunId, "the id of a run")),
  status: oneOf("complete", "partial"),
  started_at: time,
  finished_at: time,
  service: object({ base_url: text }),
  /** The job as it was understood, defaults filled in; it holds no secret. */
  options: openObject({
    output: openObject({
      formats: listOf(oneOf(...fileFormats, "duckdb")),
      csv_safe: truth,
      compress: v.nullish(oneOf("none", "gzip", "zstd"), "none"),
      partition: v.nullish(oneOf("none", "dataset"), "none"),
    }),
    child_chunks: v.optional(v.unknown()),
    datasets: v.optional(v.unknown()),
  }),
  counts,
  /** Over all the processes of a run that broke off and was continued. */
  requests: object({ sent: count, retried: count, throttled: count, bytes: count }),
  /** The requests that were sent again, by the reason: a status, `timeout`, `connection` or `broken answer`. */
  retries: v.nullish(v.record(text, count, "an object"), {}),
  documents: listOf(documentSchema),
  /** One for each document that was read, in the order of the job; none with `child_chunks: none`. */
  child_lists: v.nullish(listOf(childListsSchema), []),
  /** The proofs that documents are whole; one for each, in the order of the job. One that is not known is let pass. */
  proofs: v.nullish(listOf(object({ dataset_id: text, document_id: text, proof: text })), []),
  files: listOf(file),
  /** Only with `originals: true`: for each document, in the order of the job, its own if it was uploaded, then those of its chunks. */
  originals: v.optional(listOf(originalSchema)),
  /** Fields of an unexpected type or without a place, by `table.field`, with how often. */
  drift: v.record(text, count, "an object"),
  warnings: listOf(text),
  /** Only where the service was asked which documents there are. */
  discovered: v.optional(discovered),
  /** Only of a run of `--shard`: it has JSONL alone, whatever `options.output.formats` says. */
  shard: v.optional(shardSchema),
  /** Only of a dump that `join` made. */
  joined: v.optional(joinedSchema),
});

/** Null where a manifest does not say. */
const countOrNull = v.fallback(v.nullable(count), null);

/**
 * The part of a manifest that says which run it is of, and what the run found. It is read where other runs are looked at,
 * whatever version made them: the rest may be in a form that this version does not know.
 */
export const runFactsSchema = object({
  format: v.number(),
  job: text,
  run_id: text,
  status: oneOf("complete", "partial"),
  started_at: v.fallback(text, ""),
  finished_at: v.fallback(text, ""),
  counts: v.fallback(object({ documents: countOrNull, chunks: countOrNull, child_chunks: countOrNull }), {
    documents: null,
    chunks: null,
    child_chunks: null,
  }),
  files: v.fallback(listOf(object({ bytes: count })), []),
  originals: v.fallback(listOf(object({ bytes: count })), []),
  documents: v.fallback(listOf(object({ dataset_id: text, document_id: text })), []),
  discovered: v.fallback(v.optional(discovered), undefined),
});

export type Manifest = v.InferOutput<typeof manifestSchema>;
export type RunFacts = v.InferOutput<typeof runFactsSchema>;
export type ManifestFile = Manifest["files"][number];
export type ChildLists = Manifest["child_lists"][number];
export type DocumentProof = Manifest["proofs"][number];
export type DiscoveredIds = NonNullable<Manifest["discovered"]>;
