import { allKinds, type Counts, type Kind } from "../rows/columns.js";
import type { DocumentRow } from "../rows/document-row.js";
import type { StagedFile } from "../sinks/sink.js";
import {
  anything,
  type Check,
  count,
  listOf,
  object,
  oneOf,
  orElse,
  orNull,
  pattern,
  recordOf,
  text,
  truth,
} from "./check-value.js";

export const fileFormats = ["jsonl", "csv", "parquet"] as const;
export type FileFormat = (typeof fileFormats)[number];

/** A manifest that was checked: it comes from a file that anybody may have written. */
export interface CheckedManifest {
  readonly tool: { readonly name: string; readonly version: string };
  readonly job: string;
  readonly run_id: string;
  readonly status: "complete" | "partial";
  readonly started_at: string;
  readonly finished_at: string;
  readonly service: { readonly base_url: string };
  readonly options: {
    readonly output: { readonly formats: readonly string[]; readonly csv_safe: boolean };
    /** As the job has it; undefined where the manifest does not say. */
    readonly child_chunks: unknown;
    readonly datasets: unknown;
  };
  readonly counts: Counts;
  readonly requests: Readonly<Record<"sent" | "retried" | "throttled" | "bytes", number>>;
  readonly documents: readonly DocumentRow[];
  /** What the service listed; undefined where it was not asked, or the manifest does not say. */
  readonly discovered: unknown;
  /** Empty in manifests of versions that did not write it. */
  readonly child_lists: readonly CheckedChildLists[];
  /** Likewise. */
  readonly proofs: readonly CheckedProof[];
  readonly files: readonly StagedFile[];
  readonly warnings: readonly string[];
}

/** How the chunks of a document came to their children. */
export interface CheckedChildLists {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly asked: number;
  readonly embedded: number;
  readonly skipped: number;
  readonly empty: number;
  /** Chunks that embedded some children; null in manifests of versions that did not say. */
  readonly embedding: number | null;
}

/** The proof that a document is whole; one that this version does not know is let pass. */
export interface CheckedProof {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly proof: string;
}

const time = pattern("a UTC time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

/** A name and nothing else: no path leads out of the folder. */
const fileName = pattern(
  "the name of a file of a dump, such as chunks.jsonl",
  new RegExp(`^(${allKinds.join("|")})\\.(${fileFormats.join("|")})$`),
);

const document: Check<DocumentRow> = object({
  dataset_id: text,
  document_id: text,
  doc_form: orNull(text),
  status: oneOf("complete", "unstable", "failed"),
  total: orNull(count),
  chunk_count: count,
  child_chunk_count: count,
  sweeps: count,
  error: orNull(text),
});

const fixedCounts = object({
  documents: count,
  chunks: count,
  child_chunks: count,
  indexing_status: count,
  metadata_fields: count,
});
const foundCounts = object({ document_info: count });

/** document_info is counted only where the run asked which documents there are. */
const childLists: Check<CheckedChildLists> = object({
  dataset_id: text,
  document_id: text,
  asked: count,
  embedded: count,
  skipped: count,
  empty: count,
  embedding: orElse(orNull(count), null),
});

const counts: Check<Counts> = (given, path) => {
  const fixed = fixedCounts(given, path);
  return isObject(given) && "document_info" in given ? { ...fixed, ...foundCounts(given, path) } : fixed;
};

function isObject(given: unknown): given is object {
  return typeof given === "object" && given !== null;
}

const manifest = object({
  format: oneOf(1),
  tool: object({ name: text, version: text }),
  job: pattern("the name of a job", /^[a-z0-9][a-z0-9_-]*$/),
  run_id: pattern("the id of a run", /^\d{8}T\d{9}Z$/),
  status: oneOf("complete", "partial"),
  started_at: time,
  finished_at: time,
  service: object({ base_url: text }),
  options: object({
    output: object({ formats: listOf(oneOf(...fileFormats, "duckdb")), csv_safe: truth }),
    child_chunks: anything,
    datasets: anything,
  }),
  counts,
  requests: object({ sent: count, retried: count, throttled: count, bytes: count }),
  documents: listOf(document),
  discovered: anything,
  child_lists: orElse(listOf(childLists), []),
  proofs: orElse(listOf(object({ dataset_id: text, document_id: text, proof: text })), []),
  files: listOf(object({ path: fileName, rows: count, bytes: count, sha256: pattern("a SHA-256", /^[0-9a-f]{64}$/) })),
  drift: recordOf(count),
  warnings: listOf(text),
});

/** Throws CheckError with everything that is wrong. Members that this version does not know are let pass. */
export const checkManifest: Check<CheckedManifest> = manifest;

/** The kind and the format of a file; its name was checked. */
export function partsOf({ path }: StagedFile): { readonly kind: Kind; readonly format: FileFormat } {
  const [stem, ending] = path.split(".");
  const kind = allKinds.find((name) => name === stem);
  const format = fileFormats.find((name) => name === ending);
  if (!kind || !format) throw new Error(`${path} is no file of a dump`);
  return { kind, format };
}
