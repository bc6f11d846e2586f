import type { StatusEntry } from "../knowledge.js";
import type { Batch, StoredDocument } from "../stored-dataset.js";

/** A batch that nothing works on any more: its entries follow from the documents and never change. */
export function restingBatch(id: string, documents: readonly StoredDocument[]): Batch {
  const entries = documents.map(entryOf);
  return { id, entries: () => entries };
}

/** Chunks that are being replaced are not counted. */
function entryOf({ row, chunks }: StoredDocument): StatusEntry {
  const { id, created_at, error = null } = row;
  const counted = chunks.filter((chunk) => chunk.row.status !== "re_segment");
  return {
    id,
    indexing_status: error === null ? "completed" : "error",
    processing_started_at: created_at,
    parsing_completed_at: created_at + 4,
    cleaning_completed_at: created_at + 5,
    splitting_completed_at: created_at + 9,
    completed_at: error === null ? created_at + 60 : null,
    paused_at: null,
    error,
    stopped_at: error === null ? null : created_at + 30,
    completed_segments: counted.filter((chunk) => chunk.row.status === "completed").length,
    total_segments: counted.length,
  };
}
