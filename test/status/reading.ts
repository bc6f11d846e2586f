import type { Row } from "../../src/rows/row.js";
import type { BatchReading } from "../../src/status/capture-status.js";

/** A row of `indexing_status` with these facts and nothing else. */
export function statusRow(facts: Row = {}): Row {
  return {
    captured_at: "2026-11-20T02:00:00Z",
    dataset_id: "set",
    batch: "b",
    document_id: "doc",
    indexing_status: "waiting",
    processing_started_at: null,
    parsing_completed_at: null,
    cleaning_completed_at: null,
    splitting_completed_at: null,
    completed_at: null,
    paused_at: null,
    error: null,
    stopped_at: null,
    completed_segments: 0,
    total_segments: 0,
    extra: null,
    ...facts,
  };
}

/** A reading of batch b. */
export function batchReading(...rows: readonly Row[]): BatchReading {
  return { datasetId: "set", batch: "b", rows: rows.map(statusRow), error: undefined };
}
