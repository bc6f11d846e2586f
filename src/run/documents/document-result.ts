import * as v from "valibot";
import type { Checkpoint } from "../../crawl/batch.js";
import type { PartFile } from "../../dump/files/join-parts.js";
import { childListsSchema, documentSchema } from "../../dump/manifest/manifest.js";
import type { DocumentRow } from "../../rows/document-row.js";
import { driftSchema } from "../../rows/drift.js";
import { count, isMapping, object, text, truth } from "../../schema.js";
import { nameAndId } from "../../words.js";
import type { DocumentNames } from "../discover/discovery.js";
import { proofSchema } from "./proof.js";

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
  readonly files: readonly PartFile[];
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
  checkpoint: v.custom<Checkpoint>((value) => isMapping(value) && isMapping(value.children), "a checkpoint"),
  docForm: v.nullable(text),
  /** Rows of the largest page of child chunks. */
  childPage: count,
  /** Whether a child list took more than one answer. */
  splitLists: truth,
  counts: object({ chunks: count, child_chunks: count }),
  drift: driftSchema,
});

/** How far a document is that is not finished; `read` is null where the attempt is to begin. */
export const progressSchema = object({ attempt: attemptSchema, read: v.nullable(readSchema) });

export type AttemptNumber = v.InferOutput<typeof attemptSchema>;
export type ReadSoFar = v.InferOutput<typeof readSchema>;
export type DocumentProgress = v.InferOutput<typeof progressSchema>;

/** Says in a sentence why a document is not complete. */
export function sentenceOf(row: DocumentRow, names: DocumentNames): string {
  const document = nameAndId(names.get(row.document_id), row.document_id);
  return `document ${document} ${row.status === "failed" ? "failed" : "is unstable"}: ${row.error}`;
}
