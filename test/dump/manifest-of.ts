import type { Manifest } from "../../src/dump/manifest.js";

/** The manifest of an empty run, with the fields that a test needs. */
export function manifestOf(more: Partial<Manifest>): Manifest {
  return {
    format: 3,
    tool: { name: "kbdump", version: "1.0.0" },
    job: "test",
    run_id: "20250306T132000000Z",
    status: "complete",
    started_at: "2025-03-06T13:20:00.000Z",
    finished_at: "2025-03-06T13:20:01.250Z",
    service: { base_url: "https://kb.example.com/v1" },
    options: { output: { formats: ["jsonl"], csv_safe: false, compress: "none", partition: "none" } },
    counts: { chunks: 0, child_chunks: 0, documents: 1, indexing_status: 0, metadata_fields: 0 },
    requests: { sent: 1, retried: 0, throttled: 0, bytes: 1 },
    retries: {},
    documents: [],
    child_lists: [],
    proofs: [],
    files: [],
    drift: {},
    warnings: [],
    ...more,
  };
}
