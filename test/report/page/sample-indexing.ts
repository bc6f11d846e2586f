import type { IndexingFacts } from "../../../src/report/report-facts.js";
import { endOfRun, hour, named, sampleId } from "./sample-documents.js";

/** Fourteen documents of batches: one is stuck, one failed, one waits, most are completed. */
export function sampleIndexing(): IndexingFacts {
  const statuses = ["indexing", "error", "splitting", "paused", "waiting", ...Array<string>(9).fill("completed")];
  const rows = statuses.map((indexing_status, at) => {
    const started = endOfRun - (at < 5 ? 9 - at : 40 + at) * hour;
    const isDone = indexing_status === "completed";
    const after = (minutes: number, isReached: boolean) => (isReached ? started + (minutes * hour) / 60 : null);
    const wasSplit = isDone || indexing_status === "indexing";
    return {
      ...named(20 + (at % 10)),
      document_id: at < 10 ? named(20 + at).document_id : sampleId(200 + at),
      batch: `2026111${at % 10}0312${String(448_000 + at * 7)}`,
      indexing_status,
      started_at: indexing_status === "waiting" ? null : started,
      parsed_at: after(1, indexing_status !== "waiting"),
      cleaned_at: after(2, indexing_status !== "waiting" && indexing_status !== "error"),
      split_at: after(4, wasSplit),
      completed_at: after(15 + at, isDone),
      paused_at: after(6, indexing_status === "paused"),
      stopped_at: null,
      captured_at: endOfRun - 30_000,
      unmoved: isDone ? null : (9 - at) * hour,
      completed_segments: indexing_status === "waiting" ? 0 : isDone ? 120 + at : 37,
      total_segments: indexing_status === "waiting" ? 0 : isDone ? 120 + at : 276,
      error: indexing_status === "error" ? "[openai] Rate limit reached for text-embedding-3-large" : null,
    };
  });
  return {
    was_asked: true,
    unread_batches: 0,
    states: ["completed", "indexing", "error", "splitting", "paused", "waiting"].map((status) => ({
      status,
      documents: statuses.filter((each) => each === status).length,
    })),
    documents: { rows, total: rows.length, query: null },
    listed: {
      rows: [
        { ...named(19), indexing_status: "waiting", display_status: "queuing", chunks: 0 },
        { ...named(26), indexing_status: "completed", display_status: "disabled", chunks: 31 },
        { ...named(28), indexing_status: "error", display_status: "error", chunks: 18 },
      ],
      total: 3,
      query: null,
    },
    chunks: [
      { status: "error", chunks: 6, documents: 2 },
      { status: "indexing", chunks: 239, documents: 1 },
    ],
  };
}
