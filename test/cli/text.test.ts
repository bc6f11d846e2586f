import { expect, test } from "vitest";
import { pageFor, terminalText } from "../../src/cli/text.js";
import { statusTable } from "../../src/commands/status.js";
import { inFull } from "../rounds.js";

test("text of the service stays on one line, without control characters, cut", () => {
  expect(terminalText("a\u001b[31m\r\nb\u0007\u202ec\u2028d")).toBe("a [31m b c d");
  expect(terminalText("x".repeat(300), 10)).toBe(`${"x".repeat(10)}…`);
});

test("the status table: percent only for counted stages, age from the start of processing", () => {
  const row = {
    document_id: "d1",
    indexing_status: "indexing",
    completed_segments: 5,
    total_segments: 8,
    processing_started_at: "2026-11-20T01:00:00Z",
    error: null,
  };
  const rows = [
    row,
    {
      ...row,
      document_id: "d2",
      indexing_status: null,
      total_segments: 0,
      processing_started_at: null,
      error: { a: 1 },
    },
  ];
  expect(statusTable(rows, Date.parse("2026-11-20T03:30:00Z"))(pageFor({}, {}))).toEqual([
    "document  status    done  age         error",
    "d1        indexing  62 %  2 h 30 min",
    'd2        unknown   –     –           {"a":1}',
  ]);
});

test.runIf(inFull)("a table of more rows than a call takes arguments", () => {
  const row = { document_id: "d", indexing_status: "completed", error: null };
  const table = statusTable(Array(150_000).fill(row), 0)(pageFor({}, {}));
  expect(table).toHaveLength(150_001);
});
