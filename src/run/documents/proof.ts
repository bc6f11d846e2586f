import type * as v from "valibot";
import { oneOf } from "../../schema.js";

/**
 * The proof that a document is whole. one answer: each of its lists came with one, so that it was so in one moment. sweeps:
 * every list that took more was read twice, and ids and contents agree. anchored: its chunks were read from the end, and kept
 * their ranks, and in a job with sweeps all but the last page were read twice; its child lists as with sweeps. counts: as many
 * distinct ids as the service counts, and no more. none: it is not whole.
 */
export const proofSchema = oneOf("one answer", "sweeps", "anchored", "counts", "none");

export type Proof = v.InferOutput<typeof proofSchema>;
