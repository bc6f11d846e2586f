import type { Cut } from "../../../src/report/lost-facts.js";
import type { ReportFacts } from "../../../src/report/report-facts.js";
import { endOfRun } from "./sample-documents.js";
import { sampleVerdict } from "./sample-state.js";

/** A complete run that found nothing: no document, no history, no batches, nothing to compare it with, not verified. */
export function emptyFacts(): ReportFacts {
  const none: Cut<never> = { rows: [], total: 0, query: null };
  return {
    verdict: {
      ...sampleVerdict(),
      status: "complete",
      documents: { complete: 0, unstable: 0, failed: 0 },
      chunks: 0,
      child_chunks: 0,
      reads_children: true,
      indexing_status: 0,
      incomplete: none,
      datasets: none,
      files: [],
      originals: null,
      warnings: [],
      warning_count: 0,
      drift: [],
      drift_count: 0,
      filtered_datasets: 0,
      verification: undefined,
    },
    lost: undefined,
    freshness: {
      as_of: endOfRun,
      states: { fresh: 0, stale: 0, unstable: 0, "never read": 0, "not in this run": 0 },
      spans: [],
      documents: none,
      has_history: false,
    },
    lengths: { all: undefined, documents: none },
    indexing: { was_asked: false, unread_batches: 0, states: [], documents: none, listed: none, chunks: [] },
    changes: { runs: [], total: 0, query: null, reason: "The job has no database: add duckdb to output.formats." },
    hits: { enabled: 0, never: 0, hits: 0, has_history: false, documents: none, chunks: none },
    flaws: { duplicates: none, copies: { chunks: 0, characters: 0 }, orphans: none, errors: none, disabled: none },
    hasContent: true,
  };
}
