import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { datasetId } from "./dataset.js";
import { runCases } from "./run-case.js";
import { tableOf } from "./table.js";

const proofs = ["counts", "anchored", "sweeps"] as const;

async function scratchFolder(): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), "kbdump-bench-"));
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
  return scratch;
}

test("a case alternates with the floor, reads everything without extra requests, and becomes a table line", async () => {
  const dataset = { id: datasetId, documents: 2, chunks: 101, childLists: true, embedsChildren: false };
  const environment = { dataset, latency: 1, inFlight: 4 };
  const formats = ["jsonl"] as const;
  const cases = proofs.map((consistency) => ({ ...environment, formats, consistency, childChunks: "all" as const }));
  const lines = await runCases(environment, cases, 1, await scratchFolder(), process.cwd());
  expect(lines.map(({ served }) => served.pages)).toEqual([4, 6, 8]);
  expect(lines.map(({ served }) => [served.childLists, served.others])).toEqual(proofs.map(() => [202, 1]));
  for (const { wall, floor, ratio, cpu, rss, rows, served, before } of lines) {
    expect(rows).toBe(202 * 11);
    expect(ratio).toBeCloseTo(wall / floor);
    expect(Math.min(floor, cpu, rss, served.cpu, before?.wall ?? 0, before?.cpu ?? 0)).toBeGreaterThan(0);
  }
  expect(tableOf(lines, { node: 0.05, version: 0.1, run: 0.4 })).toMatch(
    /^\| 2x101-lists-1ms-4-jsonl +\| +2 \| +202 \| +all \| +jsonl \| +counts \| +1 ms \| +4 \|.*\| +207 \| +[\d.]+ \| +[\d.]+ \|$/m,
  );
});

test("a hierarchical dataset shows how many requests `auto` saves", async () => {
  const dataset = { id: datasetId, documents: 2, chunks: 101, childLists: true, embedsChildren: true };
  const environment = { dataset, latency: 0, inFlight: 4, formats: ["jsonl"] as const };
  const cases = [
    { ...environment, childChunks: "none", consistency: "counts" } as const,
    ...proofs.map((consistency) => ({ ...environment, childChunks: "auto", consistency }) as const),
    { ...environment, childChunks: "all", consistency: "counts" } as const,
  ];
  const lines = await runCases(environment, cases, 1, await scratchFolder());
  expect(lines.map(({ served }) => served.pages)).toEqual([4, 4, 6, 8, 4]);
  expect(lines.map(({ served }) => served.childLists)).toEqual([0, 8, 8, 8, 202]);
  expect(tableOf(lines)).toMatch(
    /^\| 2x101-hierarchy-all-0ms-4-jsonl +\| all +\| counts +\| +[\d.]+ s \| +[\d.]+ s \| +\d+ MB \| +4 \| +202 \| +207 \| +41\.4 \| +[\d.]+ s \| +[\d.]+ \|$/m,
  );
});
