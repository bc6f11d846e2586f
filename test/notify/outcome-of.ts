import { RequestCounts } from "../../src/client/request-counts.js";
import type { RunOutcome } from "../../src/notify/run-metrics.js";

/** The outcome of a run, with the fields that a test needs. */
export function outcomeOf(more: Partial<RunOutcome> = {}): RunOutcome {
  const requests = { sent: 12, retried: 3, throttled: 1, bytes: 4567, retriedBy: { "503": 2, timeout: 1 } };
  return {
    job: "nightly",
    runId: "20261120T020000000Z",
    status: "complete",
    finishedAt: new Date("2026-11-20T02:05:00Z"),
    seconds: 300,
    requests: { ...new RequestCounts(), ...requests },
    rows: { documents: 10, chunks: 100, child_chunks: 20, indexing_status: 0, metadata_fields: 5 },
    documents: { complete: 10, unstable: 0, failed: 0 },
    failedDocuments: [],
    failedNames: [],
    message: "what happened",
    ...more,
  };
}
