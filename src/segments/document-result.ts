import * as v from "valibot";
import { listCounts, planChildren } from "../crawl/auto.js";
import type { DocumentNames } from "../crawl/discovery.js";
import type { ChildrenSoFar, HowFar } from "../crawl/how-far.js";
import { type ChildLists, childListsSchema, documentSchema } from "../dump/manifest.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { Job } from "../job/job.js";
import type { DocumentRow } from "../rows/row.js";
import { driftSchema } from "../rows/row-from-record.js";
import { count, isMapping, object, oneOf, truth } from "../schema.js";
import { countOf, nameAndId } from "../words.js";

/**
 * The proof that a document is whole. one answer: each of its lists came with one, so that it was so in one moment. sweeps:
 * every list that took more was read twice, and ids and contents agree. anchored: its chunks were read from the end, and kept
 * their ranks, and in a job with sweeps all but the last page were read twice; its child lists as with sweeps. counts: as many
 * distinct ids as the service counts, and no more. none: it is not whole.
 */
export const proofSchema = oneOf("one answer", "sweeps", "anchored", "counts", "none");

/** The result of one document. Its rows lie in its parts. */
export const resultSchema = object({
  row: documentSchema,
  drift: driftSchema,
  /** Null where the document could not be read, and where no child chunks were to be. */
  childLists: v.nullable(childListsSchema),
  proof: proofSchema,
});

export type DocumentResult = v.InferOutput<typeof resultSchema>;

/** A document that was read, and where its rows lie. */
export interface DumpedDocument extends DocumentResult {
  /** One for every kind and text format; there is none where there are no rows. */
  readonly files: readonly SegmentFile[];
  /** Whether an earlier process read it, and this one only found it. */
  readonly isOld: boolean;
}

/** Which attempt at a document this is. */
const attemptSchema = object({
  /** 1 for the first. */
  number: count,
  /** Times that the document was read before, sweeps included. */
  sweeps: count,
  /** Whether to read the chunks from their end. */
  fromTheEnd: truth,
});

/** Everything that an attempt has read so far. */
const readSchema = object({
  /** This version wrote it, which the plan of the work folder vouches for: nothing but its outline is checked. */
  howFar: v.custom<HowFar>((value) => isMapping(value) && isMapping(value.chunks) && isMapping(value.children)),
  drift: driftSchema,
});

/** A document that is not finished; `read` is null where the attempt is to begin. */
export const progressSchema = object({ attempt: attemptSchema, read: v.nullable(readSchema) });

export type AttemptNumber = v.InferOutput<typeof attemptSchema>;
export type ReadSoFar = v.InferOutput<typeof readSchema>;
export type DocumentProgress = v.InferOutput<typeof progressSchema>;

/** Says in a sentence why a document is not complete. */
export function sentenceOf(row: DocumentRow, names: DocumentNames): string {
  const document = nameAndId(names.get(row.document_id), row.document_id);
  return `document ${document} ${row.status === "failed" ? "failed" : "is unstable"}: ${row.error}`;
}

export type Proof = v.InferOutput<typeof proofSchema>;

/** Sums up how the children of a document were read; null without children. */
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

/** The sums over all documents; `auto_asks` counts a document that moved with all its lists. */
export interface ChildListSums {
  readonly asked: number;
  readonly embedded: number;
  readonly skipped: number;
  readonly empty: number;
  /** Child lists that were asked for and that `auto` does not ask for: requests that it saves, at the least. */
  readonly auto_saves: number;
  readonly auto_misses: number;
}

/** Adds up what was read of several documents. */
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
