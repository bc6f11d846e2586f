import { expect, test } from "vitest";
import { pageFor } from "../../../src/cli/text.js";
import { renderSummary, summaryJson } from "../../../src/commands/run/summary.js";
import type { Manifest } from "../../../src/dump/manifest.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { retryCommand } from "../../../src/shell-text.js";
import { manifestOf } from "../../dump/manifest-of.js";

const page = pageFor({}, {});
const args = ["run", "jobs/my night.yaml", "--fresh", "--out", "$HOME/kb"];

function documentRow(id: string, status: "complete" | "failed" | "unstable"): Manifest["documents"][number] {
  const error = status === "complete" ? null : `GET …: 500 ${id} is broken`;
  const counts = { total: 1, chunk_count: 1, child_chunk_count: 0, sweeps: 1 };
  return { dataset_id: "d", document_id: id, doc_form: "text_model", status, error, ...counts };
}

function resultOf(more: Partial<Manifest>, facts: Partial<RunResult> = {}): RunResult {
  const manifest = manifestOf(more);
  const places = { folder: "/out/runs/x", database: undefined, report: undefined };
  return {
    manifest,
    status: manifest.status,
    names: new Map(),
    problems: [],
    pruned: [],
    ...places,
    ...facts,
  };
}

const summaryOf = (result: RunResult) => renderSummary(result, 1234, { program: "kbdump", args }, page).split("\n");

test("a partial run lists each missing document once, by name and id, and the command that reads it", () => {
  const documents = [documentRow("a", "complete"), documentRow("b", "failed"), documentRow("c", "unstable")];
  const warnings = [
    'document "Hand\u001b[31mbook" (b) failed: GET …: 500 b is broken',
    "document c is unstable: GET …: 500 c is broken",
    "metadata fields of dataset d: 500",
  ];
  const names = new Map([["b", "Hand\u001b[31mbook"]]);
  const result = resultOf(
    { status: "partial", documents, warnings: warnings.map((one) => one.replace("\u001b", " ")) },
    { names },
  );
  const lines = summaryOf(result);
  expect(lines[0]).toBe("partial: 1 of 3 documents complete, 1 failed, 1 unstable, 0 chunks, 0 child chunks");
  const [from, to] = [lines.indexOf("Incomplete:"), lines.indexOf("Next:")];
  expect(lines.slice(from, to)).toEqual([
    "Incomplete:",
    '  failed "Hand [31mbook" (b): GET …: 500 b is broken',
    "  unstable c: GET …: 500 c is broken",
    "",
    "Warnings:",
    "  metadata fields of dataset d: 500",
    "",
    "Once the cause is gone, read what is missing:",
    `  kbdump run "jobs/my night.yaml" --out '$HOME/kb' --retry-failed`,
    "",
    "  /out/runs/x/  0 files and manifest.json, 0 B",
    "",
  ]);
  expect(summaryJson(result, 1)).toMatchObject({
    incomplete_documents: [
      { dataset_name: null, document_id: "b", document_name: "Hand\u001b[31mbook" },
      { dataset_name: null, document_id: "c", document_name: null },
    ],
  });
});

test("a shard says which one it is, first, and last how all of them become one dump", () => {
  const list = { documents: 40, bytes: 9, sha256: "0".repeat(64) };
  const shard = { index: 3, count: 16, plan: "p", list };
  const lines = (folder: string) => summaryOf(resultOf({ shard }, { folder }));
  const usual = lines("output/test/shards/3-of-16/runs/x");
  expect(usual[0]).toBe("complete: shard 3 of 16, 1 document, 0 chunks, 0 child chunks");
  expect(usual.at(-1)).toBe("Once all 16 shards are there: kbdump join test");
  expect(usual).toContain("  output/test/shards/3-of-16/runs/x/  0 files, list.json and manifest.json, 0 B");
  expect(lines("/my kb/test/shards/3-of-16/runs/x").at(-1)).toBe(
    'Once all 16 shards are there: kbdump join "/my kb/test/shards"/*-of-16',
  );
  expect(lines("s3://kb/dumps/test/shards/3-of-16/runs/x").at(-1)).toBe(
    "Once all 16 shards are there: kbdump join s3://kb/dumps/test",
  );
  expect(summaryJson(resultOf({ shard }), 1).shard).toEqual({ index: 3, count: 16 });
  expect(summaryJson(resultOf({}), 1).shard).toBeNull();
});

test("of many documents that failed, ten are listed", () => {
  const documents = Array.from({ length: 12 }, (_, at) => documentRow(`id-${at}`, "failed"));
  const lines = summaryOf(resultOf({ status: "partial", documents }));
  expect(lines.filter((line) => line.startsWith("  failed "))).toHaveLength(10);
  expect(lines).toContain("  … and 2 more documents in manifest.json");
});

test("a complete run that could not finish publishing asks for no retry", () => {
  const problems = ["latest could not be moved to this run (EIO); the next run does it"];
  const lines = summaryOf(resultOf({ documents: [documentRow("a", "complete")] }, { status: "partial", problems }));
  expect(lines[0]).toMatch(/^partial: 1 of 1 document complete, /);
  expect(lines).toContain(`  ${problems[0]}`);
  expect(lines.join("\n")).not.toContain("--retry-failed");
});

test.each([
  [["run", "a.yaml"], "kbdump run a.yaml --retry-failed"],
  [["run", "a.yaml", "--retry-failed", "--quiet"], "kbdump run a.yaml --quiet --retry-failed"],
  [["run", "--dataset", "it's", ""], 'kbdump run --dataset "it\'s" "" --retry-failed'],
  [["run", "--fresh=true", "a.yaml"], "kbdump run a.yaml --retry-failed"],
  [["run", "a!.yaml"], "kbdump run 'a!.yaml' --retry-failed"],
])("the command after %j", (given, command) => {
  expect(retryCommand({ program: "kbdump", args: given })).toBe(command);
});

test("the next commands inspect the run: its report, or a verification if there is a report", () => {
  expect(summaryOf(resultOf({}))).toContain("  kbdump report /out/runs/x");
  expect(summaryOf(resultOf({}, { report: "/out/report.html" }))).toContain("  kbdump verify /out/runs/x");
});

const none = { asked: 0, embedded: 0, skipped: 0, empty: 0, embedding: 0, auto_asks: null, auto_misses: 0 };

test.each([
  ["all", { ...none, asked: 5_027, empty: 3_921 }, undefined],
  ["auto", none, undefined],
  [
    "auto",
    { ...none, asked: 1_180, embedded: 983, skipped: 2_864, empty: 1_077 },
    "1,180 child lists read, embedded children used for 983 chunks, 2,864 lists skipped; child_lists in manifest.json says why",
  ],
  ["auto", { ...none, asked: 12 }, "12 child lists read; child_lists in manifest.json says why"],
])("child_chunks: %s, %j: %s", (childChunks, counts, line) => {
  const manifest = manifestOf({ child_lists: [{ dataset_id: "d", document_id: "a", reason: "", ...counts }] });
  const lines = summaryOf(resultOf({ ...manifest, options: { ...manifest.options, child_chunks: childChunks } }));
  expect(lines.find((each) => each.includes("child list"))).toBe(line);
});
