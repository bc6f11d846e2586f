import * as v from "valibot";
import type { Kind } from "../rows/columns.js";
import { count, listOf, object, oneOf, openObject, pattern, text, truth } from "../schema.js";
import { type FileFormat, fileFormats } from "./formats/formats.js";
import { type FileParts, partsOfName } from "./formats/name-parts.js";
import { isRunId } from "./run-id.js";

/** The last file of a run folder: a folder without it is no dump. */
export const manifestName = "manifest.json";

/** The format of the manifests that this version writes and reads. */
export const manifestFormat = 3;

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
  /** Chunks that embedded some children in the page of chunks, taken or not. */
  embedding: count,
  reason: text,
  /** Child lists that `auto` asks for of this document; null where it moved. */
  auto_asks: v.nullable(count),
  /** Child chunks of these that `auto` does not find, as far as the run knows. */
  auto_misses: count,
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
      name: v.nullable(text),
      state: text,
      documents: count,
      /** The run that its documents were compared with. */
      since: v.nullable(text),
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

/** The most shards that a run can be divided into. */
export const mostShards = 10_000;

/** The place of a shard, or how many there are. */
const numberOfShard = v.pipe(
  count,
  v.minValue(1, "a whole number from 1"),
  v.maxValue(mostShards, `at most ${mostShards}`),
);

/** The part of a job that a run read, as its manifest says it. A whole run has none. */
const shardSchema = object({
  /** From 1. */
  index: numberOfShard,
  count: numberOfShard,
  /** The hash of the job and the version of the tool: the same for all shards of a run. */
  plan: text,
  /** The documents of all shards, and the size and hash of the file that lists them. */
  list: object({ documents: count, bytes: count, sha256 }),
});

/** The runs that a dump was joined from, in the order of their shards. */
const joinedSchema = object({
  shards: listOf(object({ index: numberOfShard, run_id: text, manifest_sha256: sha256 })),
});

/** The folder of a run folder in which the original files lie. */
export const originalsFolder = "originals";

/** `originals/<document>/<name>`: two names and nothing else, so that no path leads out of the folder. */
const originalPath = pattern(
  `the path of an original, such as ${originalsFolder}/a8e0…/Guide.pdf`,
  new RegExp(`^${originalsFolder}/[0-9a-z][0-9a-z_-]*/(?!\\.{1,2}$)[^/\\\\\\p{Cc}]+$`, "u"),
);

const facts = {
  dataset_id: text,
  document_id: text,
  /** The file is attached to a chunk, which is the first that has it; both null where the document was made from the file. */
  attachment_id: v.nullable(text),
  chunk_id: v.nullable(text),
  /** As the service names it; null where it did not. */
  name: v.nullable(text),
  mime_type: v.nullable(text),
  bytes: count,
  /** The size according to the service; null where it did not say. */
  expected_bytes: v.nullable(count),
  sha256: v.nullable(pattern("a SHA-256", /^[0-9a-f]{64}$/)),
  /** The id of the uploaded file; null where the service did not say. */
  file_id: v.nullable(text),
  verdict: oneOf("complete", "wrong size", "missing"),
  /** Why it is not complete; null where it is. */
  reason: v.nullable(text),
};

/** The file that a document was made from, or one attached to a chunk of it, as far as the service gave it. */
export const originalSchema = object({
  ...facts,
  /** Relative to the run folder; null where there is no file. */
  path: v.nullable(originalPath),
});

/** The manifest of a dump: what a run was, and what it left. Unknown members are ignored. */
export const manifestSchema = object({
  format: v.literal(manifestFormat),
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
      compress: oneOf("none", "gzip", "zstd"),
      partition: oneOf("none", "dataset"),
    }),
    child_chunks: v.optional(v.unknown()),
    datasets: v.optional(v.unknown()),
  }),
  counts,
  /** Over all the processes of a run that broke off and was continued. */
  requests: object({ sent: count, retried: count, throttled: count, bytes: count }),
  /** The requests that were sent again, by the reason: a status, `timeout`, `connection` or `broken answer`. */
  retries: v.record(text, count, "an object"),
  documents: listOf(documentSchema),
  /** One for each document that was read, in the order of the job; none with `child_chunks: none`. */
  child_lists: listOf(childListsSchema),
  /** The proofs that documents are whole; one for each, in the order of the job. One that is not known is let pass. */
  proofs: listOf(object({ dataset_id: text, document_id: text, proof: text })),
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
 * whatever version made them.
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
export type DiscoveredIds = NonNullable<Manifest["discovered"]>;

/** The kind, format, dataset and compression of a file; its name was checked. */
export function partsOf({ path }: Pick<ManifestFile, "path">): FileParts {
  const parts = partsOfName(path);
  if (!parts) throw new Error(`${path} is no file of a dump`);
  return parts;
}

/** The rows of a kind in one format: a file, or a file for each dataset. */
export interface DumpTable {
  readonly kind: Kind;
  readonly format: FileFormat;
  /** As messages name it: `chunks.jsonl`, also where it is a folder. */
  readonly path: string;
  readonly files: readonly ManifestFile[];
  readonly rows: number;
  readonly bytes: number;
}

/** The tables of a dump, in the order of its files. */
export function tablesOf(files: readonly ManifestFile[]): readonly DumpTable[] {
  const groups = new Map<string, ManifestFile[]>();
  for (const file of files) {
    const { kind, format } = partsOf(file);
    const name = `${kind}.${format}`;
    const group = groups.get(name) ?? [];
    group.push(file);
    groups.set(name, group);
  }
  return [...groups].flatMap(([name, group]) => {
    const [first] = group;
    if (!first) return [];
    const { kind, format, dataset } = partsOf(first);
    const sum = (column: "rows" | "bytes") => group.reduce((all, file) => all + file[column], 0);
    const path = dataset === undefined ? first.path : name;
    return [{ kind, format, path, files: group, rows: sum("rows"), bytes: sum("bytes") }];
  });
}

/** The file of a shard's run folder that lists the documents of all shards, in the order of the job. */
export const listName = "list.json";

export type ManifestShard = v.InferOutput<typeof shardSchema>;

export type ManifestJoined = v.InferOutput<typeof joinedSchema>;

/** An original that has no place in a run folder yet. */
export const savedOriginalSchema = object(facts);

export type SavedOriginal = v.InferOutput<typeof savedOriginalSchema>;
export type Original = v.InferOutput<typeof originalSchema>;

/** A file that a manifest lists. */
export interface ListedFile {
  /** Relative to the run folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Every file of a run beside its manifest: those of the rows, the list of a shard, and the originals. */
export function listedFiles({ files, shard, originals = [] }: Manifest): readonly ListedFile[] {
  const rows = files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }));
  const list = shard ? [{ path: listName, bytes: shard.list.bytes, sha256: shard.list.sha256 }] : [];
  const saved = originals.flatMap(({ path, bytes, sha256 }) =>
    path === null || sha256 === null ? [] : [{ path, bytes, sha256 }],
  );
  return [...rows, ...list, ...saved];
}

/** The ids of the datasets of which the job of a run reads only the chunks that a filter lets through. */
export function filteredDatasets({ datasets }: Manifest["options"]): readonly string[] {
  return (Array.isArray(datasets) ? datasets : [datasets]).flatMap((dataset: unknown) => {
    if (typeof dataset !== "object" || dataset === null) return [];
    const { id, status, keyword }: { id?: unknown; status?: unknown; keyword?: unknown } = dataset;
    return keyword || (Array.isArray(status) && status.length > 0) ? [String(id)] : [];
  });
}
