import type { Batch, StatusEntry, StoredDocument } from "../rows.js";

/** A finished batch. Its entries follow from the documents and never change. */
export function restingBatch(id: string, documents: readonly StoredDocument[]): Batch {
  const entries = documents.map(entryOf);
  return { id, entries: () => entries };
}

/** Chunks being replaced are not counted. */
function entryOf({ row, chunks }: StoredDocument): StatusEntry {
  const { id, created_at, error = null } = row;
  const counted = chunks.filter((chunk) => chunk.row.status !== "re_segment");
  return {
    id,
    indexing_status: error === null ? "completed" : "error",
    ...{ processing_started_at: created_at, parsing_completed_at: created_at + 4 },
    ...{ cleaning_completed_at: created_at + 5, splitting_completed_at: created_at + 9 },
    completed_at: error === null ? created_at + 60 : null,
    ...{ paused_at: null, error, stopped_at: error === null ? null : created_at + 30 },
    completed_segments: counted.filter((chunk) => chunk.row.status === "completed").length,
    total_segments: counted.length,
  };
}

const readsToSplit = 5;
const readsToFinish = 20;

/**
 * A batch whose counts grow with each read until it is completed after 20 reads. No count ever decreases. Only the progress is
 * simulated: all chunks exist from the start, so that every dump of them is the same.
 */
export function batchUnderWay(id: string, documents: readonly StoredDocument[], clock: () => Date): Batch {
  const now = (): number => Math.floor(clock().getTime() / 1000);
  const startedAt = now();
  let reads = 0;
  let splitAt: number | null = null;
  let completedAt: number | null = null;
  return {
    id,
    entries() {
      reads = Math.min(reads + 1, readsToFinish);
      if (reads > readsToSplit) splitAt ??= now();
      if (reads === readsToFinish) completedAt ??= now();
      return documents.map(({ row, chunks }) => ({
        ...{ id: row.id, indexing_status: stageAfter(reads), processing_started_at: startedAt },
        ...{ parsing_completed_at: startedAt, cleaning_completed_at: startedAt, splitting_completed_at: splitAt },
        ...{ completed_at: completedAt, paused_at: null, error: null, stopped_at: null },
        completed_segments: Math.floor((chunks.length * reads) / readsToFinish),
        total_segments: Math.ceil((chunks.length * Math.min(reads, readsToSplit)) / readsToSplit),
      }));
    },
  };
}

function stageAfter(reads: number): string {
  if (reads === readsToFinish) return "completed";
  return reads > readsToSplit ? "indexing" : "splitting";
}
