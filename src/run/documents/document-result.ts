import type { Checkpoint } from "../../crawl/batch.js";
import type { PartFile } from "../../dump/files/join-parts.js";
import type { ChildLists } from "../../dump/manifest/manifest.js";
import type { DocumentRow } from "../../rows/document-row.js";
import type { Drift } from "../../rows/drift.js";
import type { KnownProof } from "./proof.js";

/** What one document came to. Its rows lie in its parts. */
export interface DocumentResult {
  readonly row: DocumentRow;
  readonly drift: Drift;
  /** Null where the document could not be read, and where no child chunks were to be. */
  readonly childLists: ChildLists | null;
  readonly proof: KnownProof;
}

/** A document that was read, and where its rows lie. */
export interface DumpedDocument extends DocumentResult {
  /** One for every kind and text format; there is none where there are no rows. */
  readonly files: readonly PartFile[];
  /** Whether an earlier process read it, and this one only found it. */
  readonly isOld: boolean;
}

/** Which attempt at a document this is. */
export interface AttemptNumber {
  /** 1 for the first. */
  readonly number: number;
  /** Times that the document was read before, sweeps included. */
  readonly sweeps: number;
  /** Whether to read the chunks from their end. */
  readonly fromTheEnd: boolean;
}

/** How far a document is that is not finished. */
export interface DocumentProgress {
  readonly attempt: AttemptNumber;
  /** Null where the attempt is to begin. */
  readonly read: ReadSoFar | null;
}

/** What an attempt has read. */
export interface ReadSoFar {
  readonly checkpoint: Checkpoint;
  readonly docForm: string | null;
  /** Rows of the largest page of child chunks. */
  readonly childPage: number;
  /** Whether a child list took more than one answer. */
  readonly splitLists: boolean;
  readonly counts: { readonly chunks: number; readonly child_chunks: number };
  readonly drift: Drift;
}

/** A result as this version wrote it, which the plan of the work folder vouches for; undefined for anything else. */
export function checkResult(value: unknown): DocumentResult | undefined {
  return isObject(value) &&
    isObject(value.row) &&
    isObject(value.drift) &&
    typeof value.childLists === "object" &&
    isObject(value.proof)
    ? (value as unknown as DocumentResult)
    : undefined;
}

/** The progress of a document, likewise. */
export function checkProgress(value: unknown): DocumentProgress | undefined {
  if (!isObject(value) || !isObject(value.attempt)) return undefined;
  const { read } = value;
  if (read === null) return value as unknown as DocumentProgress;
  if (!isObject(read) || !isObject(read.counts) || !isObject(read.drift)) return undefined;
  const isWhole = isObject(read.checkpoint) && isObject(read.checkpoint.children);
  return isWhole ? (value as unknown as DocumentProgress) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** What there is to say of a document that is not complete. */
export function sentenceOf(row: DocumentRow): string {
  return `document ${row.document_id} ${row.status === "failed" ? "failed" : "is unstable"}: ${row.error}`;
}
