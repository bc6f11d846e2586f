import * as v from "valibot";
import type { RawRecord } from "../rows/row.js";
import { object, truth } from "../schema.js";

/**
 * Facts that show whether a person edited, added or disabled rows of a document. They are collected page by page, so that no row
 * stays in memory.
 */
export const editEvidenceSchema = object({
  /** Whether a field of a row shows an edit. */
  isMarked: truth,
  /** When the newest chunk was created, in Unix seconds; null if no chunk has that time. */
  newest: v.nullable(v.number()),
  /** When the first chunk was completed, in Unix seconds; null if unknown. */
  completed: v.nullable(v.number()),
});

export type EditEvidence = v.InferOutput<typeof editEvidenceSchema>;

export const noEditEvidence: EditEvidence = { isMarked: false, newest: null, completed: null };

/** Adds the evidence of chunks or child chunks, as the service sent them. */
export function withEvidence(
  evidence: EditEvidence,
  kind: "chunks" | "child_chunks",
  records: readonly RawRecord[],
): EditEvidence {
  let { isMarked, newest, completed } = evidence;
  for (const record of records) {
    isMarked ||= kind === "chunks" ? isMarkedChunk(record) : record.type === "customized";
    if (kind === "child_chunks") continue;
    const { created_at: created, completed_at: done } = record;
    if (typeof created === "number") newest = Math.max(created, newest ?? created);
    if (typeof done === "number") completed = Math.min(done, completed ?? done);
  }
  return { isMarked, newest, completed };
}

function isMarkedChunk({ updated_by, disabled_by, enabled }: RawRecord): boolean {
  return enabled === false || [updated_by, disabled_by].some((by) => typeof by === "string" && by !== "");
}

/**
 * Whether the document looks edited, so that `details: auto` reads its details: a row is marked, or a chunk was created after
 * the first chunk was completed. The service creates all chunks of an indexing before it completes any, so a person added that
 * chunk.
 */
export function needsDetails({ isMarked, newest, completed }: EditEvidence): boolean {
  return isMarked || (newest !== null && completed !== null && newest > completed);
}
