import { expect, test } from "vitest";
import { widthOf } from "../../src/cli/display-width.js";
import { type Page, pageFor } from "../../src/cli/text.js";
import { renderDiff } from "../../src/commands/diff/table.js";
import { renderPlan } from "../../src/commands/plan.js";
import { renderPrune } from "../../src/commands/prune.js";
import { renderWatchResult, statusTable } from "../../src/commands/status.js";
import { renderVerification } from "../../src/commands/verify.js";
import type { ChunkChange, RunDiff } from "../../src/compare/diff-result.js";
import type { JobPlan } from "../../src/plan/plan-result.js";
import type { PruneResult } from "../../src/run/prune-job.js";
import type { WatchedStatus } from "../../src/status/status-result.js";

import type { Verification } from "../../src/verify/findings.js";
import { inFull } from "../rounds.js";
import { statusRow } from "../status/reading.js";

const id = "1e63378f-0ff6-41a4-8f48-687d51b4e63d";
const other = "c7b74588-3135-438d-8caf-33072b6a89ed";
const sentence = `500 服务器内部错误，模型没有回答，请稍后再试 and then it failed once more (GET https://kb.example.com/v1)`;
const now = Date.parse("2026-11-20T02:00:00Z");

const counts = {
  added: 12_345,
  removed: 12_345,
  changed: 1_234,
  moved: 1_234,
  unchanged: 12_345,
  fields: 1_234,
  lost: 1_234,
  manual_edits: 123,
};

const plan: JobPlan = {
  status: "partial",
  job: "a-job-with-a-name-that-is-quite-long",
  service: { base_url: "https://kb.example.com/v1" },
  child_chunks: "auto",
  details: "auto",
  consistency: "sweeps",
  counts: {
    datasets: 2,
    batches: 1,
    documents: 1_234,
    documents_failed: 1,
    chunks: 1_234_567,
    child_chunks: 2_345_678,
    document_details: 1_234,
  },
  requests: { all: 1_234_567, auto: 234_567, none: 34_567, this_job: 234_567 },
  least_seconds: 12_345,
  latency: { chunk_page: 0.123, child_list: 0.045, answers: 1_000 },
  disk: {
    folder: "/data/output",
    needed_bytes: 1e9,
    run_folder_bytes: 1e9,
    database_bytes: 1e9,
    free_bytes: 1e12,
    enough: true,
  },
  quirks: [{ name: "child_lists", finding: sentence, meaning: sentence }],
  documents: [
    {
      dataset_id: other,
      dataset_name: null,
      document_id: id,
      document_name: null,
      doc_form: "hierarchical_model",
      chunks: 123_456,
      child_chunks: 234_567,
      requests: 123_456,
      error: sentence,
    },
  ],
  asked: { sent: 1_000, retried: 0, throttled: 0, bytes: 123_456, seconds: 12 },
  warnings: [sentence],
  documents_out: null,
};

const rows = [statusRow({ document_id: id, indexing_status: "error", error: sentence })];
const watched: WatchedStatus = {
  status: "error",
  seconds: 12_345,
  polls: 100,
  readings: 1_000,
  rows,
  drift: {},
  database: "output/nightly/nightly.duckdb",
  added: false,
};

const verification: Verification = {
  status: "differences",
  findings: [{ file: "chunks.parquet", message: sentence }],
  finding_count: 1,
  checked: {
    folder: "output",
    run_id: null,
    files: 1,
    documents: 1,
    chunks: 1,
    child_chunks: 1,
    originals: null,
    attachments: null,
    database: null,
    notes: [sentence],
  },
};

const run = { runId: "20261120T020000123Z", status: "complete", bytes: 1e9, isEmpty: false } as const;
const pruned: PruneResult = {
  runs: [
    {
      ...run,
      keep: true,
      rules: ["newest", "last", "monthly"],
      reasons: ["newest complete run", "last 14: number 1", "monthly 12: 2026-11"],
    },
    { ...run, runId: "20261119T020000123Z", keep: false, rules: [], reasons: ["no rule keeps it"] },
  ],
  strangers: [{ name: "旧的备份文件夹", why: "its manifest.json names another job, which is called something-else" }],
  setAside: true,
  failures: [{ runId: "20261119T020000123Z", error: sentence }],
};

const oldRun = { folder: "old", job: "nightly", run_id: "old", format: "jsonl", chunks: 1, child_chunks: 1 };
const diff: RunDiff = {
  status: "different",
  lost: 2_468,
  manual_edits: 246,
  old: oldRun,
  new: oldRun,
  counts: {
    documents: { same: 1, different: 1, removed: 0, added: 0, not_compared: 1, reindexed: 1 },
    chunks: counts,
    child_chunks: counts,
  },
  documents: [
    {
      dataset_id: other,
      dataset_name: null,
      document_id: id,
      document_name: "产品手册，第二版，含所有的安全说明和维护计划.md",
      state: "different",
      reindexed: true,
      reordered: false,
      reason: sentence,
      chunks: counts,
      child_chunks: counts,
    },
  ],
  warnings: [],
};
const text = "从打开阀门开始，永远不要超过四点五巴，否则泵会损坏。".repeat(20);
const changes: readonly ChunkChange[] = (["changed", "removed", "added", "fields"] as const).map((kind) => ({
  dataset_id: other,
  document_id: id,
  level: "chunk",
  kind,
  lost: kind === "changed" || kind === "removed",
  manual_edit: "customized",
  old_id: kind === "added" ? null : id,
  new_id: kind === "removed" ? null : other,
  old_segment_id: null,
  new_segment_id: null,
  old_position: 1_234,
  new_position: 2_345,
  fields: ["attachments", "enabled", "keywords", "summary"],
  old_beginning: text.slice(0, 160),
  new_beginning: text.slice(0, 160),
  ...(kind === "changed" && {
    text: {
      content: [
        { kind: "same", text: "Open the valve ", cut: 0 },
        { kind: "removed", text, cut: 0 },
        { kind: "added", text: `slowly ${sentence}`, cut: 0 },
      ],
      answer: [{ kind: "added", text: sentence, cut: 0 }],
    },
  }),
}));

const tables: Readonly<Record<string, (page: Page) => string | Promise<string>>> = {
  plan: (page) => renderPlan(plan, page),
  status: (page) => statusTable(rows, now)(page).join("\n"),
  "status --watch": (page) => renderWatchResult(watched, now, page),
  verify: (page) => renderVerification({ ...verification, against: null }, page),
  prune: (page) => renderPrune(pruned, true, page),
  diff: (page) => renderDiff(diff, changesOf(), { ...page, documentsOnly: false, words: false }),
  "diff --text": (page) => renderDiff(diff, changesOf(), { ...page, documentsOnly: false, words: true }),
};

function changesOf() {
  async function* all() {
    yield* changes;
  }
  return { all, first: async () => changes, replaced: 1 };
}

/** Every colour is on: colour codes must not count as width. */
const pageOf = (columns: number) => pageFor({ isTTY: true, columns }, {});

test.runIf(inFull).each(Object.entries(tables))(
  "%s: no line is wider than a terminal of 80 or 40 columns, and no id is cut",
  async (_name, render) => {
    for (const columns of [120, 80, 60, 40]) {
      const lines = (await render(pageOf(columns))).split("\n");
      expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
      if (lines.join("\n").includes(id.slice(0, 8))) expect(lines.join("\n")).toContain(id);
    }
    expect(widthOf((await render(pageOf(40))).replaceAll("\n", ""))).toBeGreaterThan(40);
  },
);

test.each(Object.entries(tables))("%s: nothing is cut or wrapped if stdout is not a terminal", async (name, render) => {
  const printed = await render(pageFor({}, {}));
  if (!name.startsWith("diff")) expect(printed).toContain(sentence);
  if (name.startsWith("diff")) expect(printed).toContain(text.slice(0, 160));
  expect(printed).not.toContain("…\n");
});
