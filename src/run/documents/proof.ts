import type * as v from "valibot";
import type { DocumentRow } from "../../rows/document-row.js";
import { object, oneOf, text } from "../../schema.js";

/**
 * The proof that a document is whole. one answer: each of its lists came with one, so that it was so in one moment. sweeps:
 * every list that took more was read twice, and ids and contents agree. anchored: its chunks were read from the end, and kept
 * their ranks, and in a job with sweeps all but the last page were read twice; its child lists as with sweeps. counts: as many
 * distinct ids as the service counts, and no more. none: it is not whole.
 */
const proof = oneOf("one answer", "sweeps", "anchored", "counts", "none");

export type Proof = v.InferOutput<typeof proof>;

/** The proof of one document, as the manifest has it. */
export const proofSchema = object({ dataset_id: text, document_id: text, proof });

export type KnownProof = v.InferOutput<typeof proofSchema>;

/** The proof of a document, named by its ids. */
export function proofOf({ dataset_id, document_id }: DocumentRow, proof: Proof): KnownProof {
  return { dataset_id, document_id, proof };
}
