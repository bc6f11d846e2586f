import * as v from "valibot";
import type { Kind } from "../rows/columns.js";
import { count, listOf, object, oneOf, openObject, pattern, text, truth } from "../schema.js";
import { type FileFormat, fileFormats } from "./formats/formats.js";
import { type FileParts, partsOfName } from "./formats/parse-file-name.js";
import { isRunId } from "./run-id.js";

/** The last file written to a run folder. A folder without it is not a dump. */
export const manifestName = "manifest.json";

/** The manifest format that this version writes and reads. */
export const manifestFormat = 3;

const time = v.pipe(
  pattern("a UTC time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
  v.check((text) => !Number.isNaN(Date.parse(text)), "a UTC time"),
);

/** The file names that runs use. No path can leave the folder. */
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
  /** The size and hash of the text before compression; absent if the file is not compressed. */
  uncompressed: v.exactOptional(object({ bytes: count, sha256 })),
});

export const documentSchema = object({
  dataset_id: text,
  document_id: text,
  doc_form: v.nullable(text),
  status: oneOf("complete", "unstable", "failed"),
  /** Chunks according to the service; null if it sent no total. */
  total: v.nullable(count),
  chunk_count: count,
  child_chunk_count: count,
  /** How often the document was read. */
  sweeps: count,
  error: v.nullable(text),
});

/** Counts the chunks of a document by the source of their children. `asked`, `embedded` and `skipped` add up to its chunks. */
export const childListsSchema = object({
  dataset_id: text,
  document_id: text,
  /** Chunks whose child list was read. */
  asked: count,
  /** Chunks whose children were taken from the page of chunks. */
  embedded: count,
  /** Chunks assumed to have no children. */
  skipped: count,
  /** Child lists that were read and are empty. */
  empty: count,
  /** Chunks with embedded children in the page of chunks, used or not. */
  embedding: count,
  reason: text,
  /** Child lists that `auto` reads for this document; null if the document is not complete. */
  auto_asks: v.nullable(count),
  /** Child chunks that `auto` would miss, as far as the run knows. */
  auto_misses: count,
});

/** The documents that the service listed, and how they differ from earlier runs. */
const discovered = object({
  since: v.nullable(text),
  /** Ids of documents that the earlier run did not have. */
  new: listOf(text),
  /** Ids of documents that the earlier run had, and that the service no longer lists. */
  vanished: listOf(text),
  datasets: listOf(
    object({
      dataset_id: text,
      /** The name of the dataset; null if the job names it by id. */
      name: v.nullable(text),
      state: text,
      documents: count,
      /** The id of the earlier run; null if there is none. */
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
  /** Present only if the service listed the documents. */
  document_info: v.exactOptional(count),
  /** Absent with `details: false`, like `document_details`. */
  datasets: v.exactOptional(count),
  document_details: v.exactOptional(count),
});

/** Maximum number of shards of a run. */
export const mostShards = 10_000;

/** The index of a shard, or the number of shards. */
const numberOfShard = v.pipe(
  count,
  v.minValue(1, "a whole number from 1"),
  v.maxValue(mostShards, `at most ${mostShards}`),
);

/** Which part of a job a run read; absent for a whole run. */
const shardSchema = object({
  /** The index of this shard, from 1. */
  index: numberOfShard,
  count: numberOfShard,
  /** A hash of the job and of the tool's version, which all shards of a run share. */
  plan: text,
  /** The number of documents in all shards, and the size and hash of the file that lists them. */
  list: object({ documents: count, bytes: count, sha256 }),
});

/** The runs that a dump was joined from, in the order of their shards. */
const joinedSchema = object({
  shards: listOf(object({ index: numberOfShard, run_id: text, manifest_sha256: sha256 })),
});

/** The subfolder of a run folder for original files. */
export const originalsFolder = "originals";

/** `originals/<document>/<name>`: exactly two names, so that no path can leave the folder. */
const originalPath = pattern(
  `the path of an original, such as ${originalsFolder}/a8e0…/Guide.pdf`,
  new RegExp(`^${originalsFolder}/[0-9a-z][0-9a-z_-]*/(?!\\.{1,2}$)[^/\\\\\\p{Cc}]+$`, "u"),
);

const facts = {
  dataset_id: text,
  document_id: text,
  /** The attachment, and the first chunk that has it; both null for the file that the document was made from. */
  attachment_id: v.nullable(text),
  chunk_id: v.nullable(text),
  /** The file name in the service; null if unknown. */
  name: v.nullable(text),
  mime_type: v.nullable(text),
  bytes: count,
  /** The size according to the service; null if unknown. */
  expected_bytes: v.nullable(count),
  sha256: v.nullable(pattern("a SHA-256", /^[0-9a-f]{64}$/)),
  /** The id of the uploaded file; null if unknown. */
  file_id: v.nullable(text),
  verdict: oneOf("complete", "wrong size", "missing"),
  /** Why the file is incomplete; null if it is complete. */
  reason: v.nullable(text),
};

/** The file that a document was made from, or one attached to one of its chunks. */
export const originalSchema = object({
  ...facts,
  /** The path of the file, relative to the run folder; null if there is no file. */
  path: v.nullable(originalPath),
});

/** The manifest of a dump: what the run read and what it wrote. Unknown fields are ignored. */
export const manifestSchema = object({
  format: v.literal(manifestFormat),
  tool: object({ name: text, version: text }),
  job: pattern("the name of a job", /^[a-z0-9][a-z0-9_-]*$/),
  run_id: v.pipe(v.string("the id of a run"), v.check(isRunId, "the id of a run")),
  status: oneOf("complete", "partial"),
  started_at: time,
  finished_at: time,
  service: object({ base_url: text }),
  /** The resolved job, including defaults. It holds no secrets. */
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
  /** Requests sent by all processes of the run, including those before it was interrupted and resumed. */
  requests: object({ sent: count, retried: count, throttled: count, bytes: count }),
  /** Retries by reason: a status, `timeout`, `connection` or `broken answer`. */
  retries: v.record(text, count, "an object"),
  documents: listOf(documentSchema),
  /** One entry for each document that was read, in the order of the job; empty with `child_chunks: none`. */
  child_lists: listOf(childListsSchema),
  /** How each document was proved complete, in the order of the job. Unknown proofs are accepted. */
  proofs: listOf(object({ dataset_id: text, document_id: text, proof: text })),
  files: listOf(file),
  /**
   * The original files, present only with `originals: true`. For each document, in the order of the job: its own file if it
   * was uploaded, then those attached to its chunks.
   */
  originals: v.optional(listOf(originalSchema)),
  /** Fields with an unexpected type or no column: `table.field` → count. */
  drift: v.record(text, count, "an object"),
  warnings: listOf(text),
  /** The documents that the service listed; absent if it was not asked. */
  discovered: v.optional(discovered),
  /** Present only for a run with `--shard`. It writes only JSONL, regardless of `options.output.formats`. */
  shard: v.optional(shardSchema),
  /** Present only for a dump made by `kbdump join`. */
  joined: v.optional(joinedSchema),
});

/** A count that may be missing in other manifests; then null. */
const countOrNull = v.fallback(v.nullable(count), null);

/** The part of a manifest that identifies a run and its result. Used to read other runs, including those of other versions. */
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

/** The kind, format, dataset and compression of a file. Its name was already checked. */
export function partsOf({ path }: Pick<ManifestFile, "path">): FileParts {
  const parts = partsOfName(path);
  if (!parts) throw new Error(`${path} is not a file of a dump`);
  return parts;
}

/** The rows of a kind in one format: one file, or one file per dataset. */
export interface DumpTable {
  readonly kind: Kind;
  readonly format: FileFormat;
  /** The name in messages: `chunks.jsonl`, even if it is a folder. */
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

/** The file in a shard's run folder that lists the documents of all shards, in the order of the job. */
export const listName = "list.json";

export type ManifestShard = v.InferOutput<typeof shardSchema>;

export type ManifestJoined = v.InferOutput<typeof joinedSchema>;

/** An original that is not in a run folder yet. */
export const savedOriginalSchema = object(facts);

export type SavedOriginal = v.InferOutput<typeof savedOriginalSchema>;
export type Original = v.InferOutput<typeof originalSchema>;

/** A file that a manifest lists. */
export interface ListedFile {
  /** The path of the file, relative to the run folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Every file of a run besides its manifest: rows, the list of a shard, and originals. */
export function listedFiles({ files, shard, originals = [] }: Manifest): readonly ListedFile[] {
  const rows = files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }));
  const list = shard ? [{ path: listName, bytes: shard.list.bytes, sha256: shard.list.sha256 }] : [];
  const saved = originals.flatMap(({ path, bytes, sha256 }) =>
    path === null || sha256 === null ? [] : [{ path, bytes, sha256 }],
  );
  return [...rows, ...list, ...saved];
}

/** The ids of datasets for which the job's filter skips some chunks. */
export function filteredDatasets({ datasets }: Manifest["options"]): readonly string[] {
  return (Array.isArray(datasets) ? datasets : [datasets]).flatMap((dataset: unknown) => {
    if (typeof dataset !== "object" || dataset === null) return [];
    const { id, status, keyword }: { id?: unknown; status?: unknown; keyword?: unknown } = dataset;
    return keyword || (Array.isArray(status) && status.length > 0) ? [String(id)] : [];
  });
}
