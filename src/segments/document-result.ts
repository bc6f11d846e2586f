import * as v from "valibot";
import type { Place } from "../client/knowledge-api.js";
import { listCounts, planChildren } from "../crawl/auto-child-lists.js";
import type { DocumentNames } from "../crawl/discovery.js";
import type { ChildrenSoFar, HowFar } from "../crawl/how-far.js";
import { editEvidenceSchema } from "../crawl/needs-details.js";
import { type ChildLists, childListsSchema, documentSchema } from "../dump/manifest.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { Job } from "../job/job.js";
import type { DocumentRow } from "../rows/row.js";
import { driftSchema, noDrift } from "../rows/row-from-record.js";
import { count, isMapping, object, oneOf, truth } from "../schema.js";
import { countOf, nameAndId } from "../words.js";

/**
 * How a document was proved complete:
 *
 * - one answer: each list came in one answer, so it is a consistent snapshot
 * - sweeps: every longer list was read twice, with the same ids and contents
 * - anchored: the chunks were read from the end and kept their ranks; if the job asks for sweeps, or chunks were added recently, all
 *   pages but the last were read twice, too. Longer child lists were read twice
 * - counts: the number of distinct ids equals the service's total
 * - none: it is incomplete
 */
export const proofSchema = oneOf("one answer", "sweeps", "anchored", "counts", "none");

/** The result of one document. Its rows are in its segments. */
export const resultSchema = object({
  row: documentSchema,
  drift: driftSchema,
  /** How the children of the document were read; null if the document could not be read, or the job skips child chunks. */
  childLists: v.nullable(childListsSchema),
  proof: proofSchema,
  /** Whether rows look edited, added or disabled: see `EditEvidence`. */
  edited: truth,
});

export type DocumentResult = v.InferOutput<typeof resultSchema>;

/** The result of a document that could not be read. It has no rows. */
export function failedDocument(
  { dataset_id, document_id, doc_form = null, total = null, sweeps = 0 }: FailedRow,
  error: string,
): DumpedDocument {
  const counts = { total, chunk_count: 0, child_chunk_count: 0, sweeps };
  const row = { dataset_id, document_id, doc_form, status: "failed" as const, ...counts, error };
  return { row, drift: noDrift, childLists: null, proof: "none", edited: false, files: [], isOld: false };
}

type FailedRow = Pick<DocumentRow, "dataset_id" | "document_id"> &
  Partial<Pick<DocumentRow, "doc_form" | "total" | "sweeps">>;

/** Kinds of rows that belong to one document each. */
export const documentKinds = ["chunks", "child_chunks"] as const;

/**
 * Whether to accept a document read by a worker, a shard or an earlier process. It must be the requested document. A complete
 * document must have a proof, and rows in every format.
 */
export function isFinished(
  { datasetId, documentId }: Place,
  {
    row,
    proof,
    files,
  }: Pick<DocumentResult, "row" | "proof"> & { readonly files: readonly Pick<SegmentFile, "kind" | "format">[] },
  formats: readonly string[],
): boolean {
  if (row.dataset_id !== datasetId || row.document_id !== documentId) return false;
  const isComplete = row.status === "complete";
  const counts = { chunks: row.chunk_count, child_chunks: row.child_chunk_count };
  const expected = documentKinds.flatMap((kind) =>
    counts[kind] > 0 ? formats.map((format) => `${kind}.${format}`) : [],
  );
  const found = new Set(files.map(({ kind, format }) => `${kind}.${format}`));
  return (
    isComplete === (proof !== "none") && found.size === expected.length && expected.every((file) => found.has(file))
  );
}

/** A document that was read, and the location of its rows. */
export interface DumpedDocument extends DocumentResult {
  /** The files with the rows of the document: one per text format for each kind that has rows. */
  readonly files: readonly SegmentFile[];
  /** Whether an earlier process read it. */
  readonly isOld: boolean;
}

const attemptSchema = object({
  /** The number of the attempt, from 1. */
  number: count,
  /** How often the document was read before, including sweeps. */
  sweeps: count,
  /** Whether to read the chunks from the end. */
  fromTheEnd: truth,
});

/** The progress of an attempt. */
const readSchema = object({
  /** Checks only the outline: the plan of the work folder guarantees that this version wrote it. */
  howFar: v.custom<HowFar>((value) => isMapping(value) && isMapping(value.chunks) && isMapping(value.children)),
  drift: driftSchema,
  edits: editEvidenceSchema,
});

/** An unfinished document; `read` is null if the attempt has not begun. */
export const progressSchema = object({ attempt: attemptSchema, read: v.nullable(readSchema) });

export type AttemptNumber = v.InferOutput<typeof attemptSchema>;
export type ReadSoFar = v.InferOutput<typeof readSchema>;
export type DocumentProgress = v.InferOutput<typeof progressSchema>;

/** A sentence that says why a document is not complete. */
export function sentenceOf(row: DocumentRow, names: DocumentNames): string {
  const document = nameAndId(names.get(row.document_id), row.document_id);
  return `document ${document} ${row.status === "failed" ? "failed" : "is unstable"}: ${row.error}`;
}

export type Proof = v.InferOutput<typeof proofSchema>;

/** Counts how the children of a document were read; null without children. */
export function childListsOf(
  childChunks: Job["childChunks"],
  row: DocumentRow,
  children: ChildrenSoFar | undefined,
): ChildLists | null {
  if (childChunks === "none" || !children) return null;
  const { evidence, empty, differing } = children;
  const auto = children.plan ?? planChildren(evidence, differing ?? undefined);
  const asks = listCounts(evidence, auto);
  const { dataset_id, document_id } = row;
  const counts = childChunks === "auto" ? asks : { asked: evidence.chunks, embedded: 0, skipped: 0 };
  return {
    dataset_id,
    document_id,
    ...counts,
    empty,
    embedding: evidence.embedding,
    reason: childChunks === "auto" ? auto.reason : "child_chunks: all",
    auto_asks: row.status === "complete" ? asks.asked : null,
    auto_misses: childChunks === "all" && auto.source === "none" ? row.child_chunk_count : 0,
  };
}

/** The sums of the counts of all documents. For an incomplete document, `auto` counts as reading as many lists as the run did. */
interface ChildListSums {
  readonly asked: number;
  readonly embedded: number;
  readonly skipped: number;
  readonly empty: number;
  /** Child lists that were read but that `auto` would skip, so `auto` saves at least as many requests. */
  readonly auto_saves: number;
  readonly auto_misses: number;
}

export function sumOfChildLists(all: readonly ChildLists[]): ChildListSums {
  const sum = (of: (one: ChildLists) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    asked: sum(({ asked }) => asked),
    embedded: sum(({ embedded }) => embedded),
    skipped: sum(({ skipped }) => skipped),
    empty: sum(({ empty }) => empty),
    auto_saves: sum(({ asked, auto_asks }) => asked - (auto_asks ?? asked)),
    auto_misses: sum(({ auto_misses }) => auto_misses),
  };
}

/** `4 of 6 documents complete, 1 failed, 1 unstable`. */
export function incompleteText(documents: readonly Pick<DocumentRow, "status">[]): string {
  const count = (wanted: DocumentRow["status"]) => documents.filter(({ status }) => status === wanted).length;
  const [complete, failed, unstable] = [count("complete"), count("failed"), count("unstable")];
  return [
    `${complete} of ${countOf(documents.length, "document")} complete`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(unstable > 0 ? [`${unstable} unstable`] : []),
  ].join(", ");
}
