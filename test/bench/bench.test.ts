import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { datasetId } from "./dataset.js";
import { runCases } from "./run-case.js";
import { tableOf } from "./table.js";

test("a case reads everything in turn with the floor, asks for nothing more, and becomes a line of the table", async () => {
  const scratch = await mkdtemp(join(tmpdir(), "kbdump-bench-"));
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
  const dataset = { id: datasetId, documents: 2, chunks: 101, childLists: true };
  const setting = { dataset, latency: 1, inFlight: 4 };
  const proofs = ["counts", "anchored", "sweeps"] as const;
  const cases = proofs.map((consistency) => ({ ...setting, formats: ["jsonl"] as const, consistency }));
  const lines = await runCases(setting, cases, 1, scratch, process.cwd());
  const read = 2 * (2 + 101) + 1;
  expect(lines.map(({ requests }) => requests)).toEqual([read, read + 2 * 2, read + 2 * 2]);
  for (const { wall, floor, ratio, cpu, rss, rowsPerSecond, before } of lines) {
    expect(ratio).toBeCloseTo(wall / floor);
    expect(rowsPerSecond).toBeCloseTo((202 * 11) / wall);
    expect(Math.min(floor, cpu, rss, before?.wall ?? 0, before?.cpu ?? 0)).toBeGreaterThan(0);
  }
  const table = tableOf(lines, { node: 0.05, version: 0.1, run: 0.4 });
  expect(table).toMatch(
    /^\| 202 chunks in 2 documents, a child list each +\| jsonl +\| counts +\| +1 ms \| +4 \|.*\| +207 \| +[\d.]+ \| +[\d.]+ \|$/m,
  );
});
