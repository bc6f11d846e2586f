import type {
  DocumentFreshness,
  FreshnessFacts,
  LengthFacts,
  Lengths,
  ReadState,
  VerdictFacts,
} from "../../../src/report/report-facts.js";
import {
  datasets,
  day,
  documents,
  drawn,
  endOfRun,
  failedAt,
  hour,
  named,
  sampleId,
  unstableAt,
} from "./sample-documents.js";

export const sampleQuery = `kbdump sql nightly@20261120T020000123Z "SELECT * FROM documents ORDER BY document_id"`;

const chunkCount = documents.reduce((sum, { chunks }) => sum + chunks, 0);

export function sampleVerdict(): VerdictFacts {
  return {
    job: "nightly",
    run_id: "20261120T020000123Z",
    status: "partial",
    tool_version: "0.2.0",
    base_url: "https://kb.example.com/v1",
    started_at: Date.UTC(2026, 10, 20, 2, 0, 0, 123),
    finished_at: endOfRun,
    documents: { complete: documents.length - 3, unstable: 2, failed: 1 },
    chunks: chunkCount,
    child_chunks: 2948,
    reads_children: true,
    indexing_status: 14,
    incomplete: {
      rows: [
        {
          ...named(failedAt),
          status: "failed",
          total: null,
          chunks: 0,
          error:
            "page 3 of the chunks: 504 Gateway Time-out, five tries in 92 s; the proxy gave up before the service answered",
        },
        {
          ...named(6),
          status: "unstable",
          total: 533,
          chunks: 530,
          error: "the total moved from 530 to 533 while it was read",
        },
        { ...named(29), status: "unstable", total: 402, chunks: 402, error: null },
      ],
      total: 3,
      query: null,
    },
    datasets: {
      rows: datasets.map((dataset, at) => {
        const own = documents.filter(({ dataset_id }) => dataset_id === dataset.dataset_id);
        const chunks = own.reduce((sum, { chunks }) => sum + chunks, 0);
        return { ...dataset, documents: own.length, incomplete: 1, chunks, child_chunks: [2100, 0, 848][at] ?? 0 };
      }),
      total: datasets.length,
      query: null,
    },
    files: ["chunks", "child_chunks", "documents", "indexing_status", "metadata_fields", "document_info"].map(
      (name, at) => ({
        path: `${name}.jsonl`,
        rows: [chunkCount, 2948, 30, 14, 15, 30][at] ?? 0,
        bytes: [9_412_004, 2_104_556, 14_210, 5_120, 1_480, 40_233][at] ?? 0,
        sha256: sampleId(500 + at)
          .replaceAll("-", "")
          .repeat(2),
      }),
    ),
    originals: { complete: 26, missing: 3, "wrong size": 1 },
    warnings: [
      "The service answered slower than 5 s on 14 requests.",
      "The key can write. A key that only reads is safer.",
    ],
    warning_count: 2,
    drift: [
      { field: "chunks.tokens", count: 12 },
      { field: "documents.summary_index_status", count: 30 },
    ],
    drift_count: 42,
    filtered_datasets: 1,
    verification: {
      status: "sound",
      finding_count: 0,
      findings: [],
      files: 6,
      notes: ["No Parquet files: nothing to compare them with."],
    },
  };
}

export function sampleFreshness(): FreshnessFacts {
  const rows: DocumentFreshness[] = documents.map(({ chunks, ...document }, at) => ({
    ...document,
    state:
      at === failedAt ? "stale" : unstableAt[0] === at ? "unstable" : unstableAt[1] === at ? "never read" : "fresh",
    read_well_at: at === failedAt ? endOfRun - 3 * day : unstableAt.includes(at) ? null : endOfRun,
    changed_at: chunks === 0 ? null : endOfRun - (1 + drawn(at, 400)) * day - drawn(at, 20) * hour,
    chunks,
  }));
  for (const at of [40, 41]) {
    const gone = {
      dataset_id: datasets[0]?.dataset_id ?? "",
      dataset_name: "Customer support",
      document_id: sampleId(at),
    };
    const document_name = at === 40 ? "Old price list.pdf" : "旧版说明书.pdf";
    const [read_well_at, changed_at] = [endOfRun - (at - 30) * day, endOfRun - 300 * day];
    rows.push({ ...gone, document_name, state: "not in this run", read_well_at, changed_at, chunks: 44 });
  }
  const counted = (among: readonly DocumentFreshness[]) => {
    const states = { fresh: 0, stale: 0, unstable: 0, "never read": 0, "not in this run": 0 } satisfies Record<
      ReadState,
      number
    >;
    for (const { state } of among) states[state] += 1;
    return states;
  };
  const month = 30 * day;
  const spans = Array.from({ length: 14 }, (_, at) => {
    const from = endOfRun - (14 - at) * month;
    const within = rows.filter(
      ({ changed_at }) => changed_at !== null && changed_at >= from && changed_at < from + month,
    );
    return { from, to: from + month, documents: counted(within) };
  });
  rows.sort(
    (a, b) => Number(a.state === "fresh") - Number(b.state === "fresh") || (a.changed_at ?? 0) - (b.changed_at ?? 0),
  );
  return {
    as_of: endOfRun,
    states: counted(rows),
    spans,
    documents: { rows, total: rows.length, query: null },
    has_history: true,
  };
}

export function sampleLengths(): LengthFacts {
  const lengthsOf = (chunks: number, at: number): Lengths => {
    const median = 180 + drawn(at, 700);
    const characters = median * chunks;
    const [shortest, quartile_1] = [5 + drawn(at, 60), Math.round(median * 0.7)];
    const [quartile_3, longest] = [Math.round(median * 1.4), Math.round(median * (2 + drawn(at, 6)))];
    return {
      chunks,
      characters,
      tokens: Math.round(characters / 4),
      shortest,
      quartile_1,
      median,
      quartile_3,
      longest,
    };
  };
  const rows = documents
    .filter(({ chunks }) => chunks > 0)
    .map(({ chunks, ...document }, at) => ({ ...document, ...lengthsOf(chunks, at) }))
    .sort((a, b) => b.chunks - a.chunks);
  return {
    all: lengthsOf(chunkCount, 99),
    documents: { rows: rows.slice(0, 25), total: rows.length, query: sampleQuery },
  };
}
