import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonText } from "../../../src/rows/exact-json.js";
import { rowFromRecord } from "../../../src/rows/row-from-record.js";
import { cellsOf } from "../../../src/segments/sweep-document.js";
import { inFull } from "../../rounds.js";
import { recordsOf } from "../../rows/record-arbitrary.js";

const known = { dataset_id: "dataset", document_id: "document", segment_id: "segment" };

describe.each(["chunks", "child_chunks"] as const)("the cells of a line of %s", (kind) => {
  it.runIf(inFull)("equal those of the parsed line, for any row", () => {
    const awkward = fc.constantFrom('"id":', ',"position":1', '\\"content":', ',"answer":', ',"word_count":', "\\");
    const record = fc.tuple(recordsOf(kind), fc.dictionary(fc.constantFrom("id", "content", "answer", "x"), awkward));
    fc.assert(
      fc.property(record, ([some, others]) => {
        const line = jsonText(
          rowFromRecord(kind, { ...some, ...others }, known, { keepSignatures: true, drift: () => {} }),
        );
        const { id, content, answer, segmentId } = cellsOf(kind, line);
        const row = JSON.parse(line);
        expect([id, content]).toEqual([JSON.stringify(row.id), JSON.stringify(row.content)]);
        expect(answer).toBe(kind === "chunks" ? JSON.stringify(row.answer) : undefined);
        expect(segmentId).toBe(kind === "chunks" ? undefined : '"segment"');
      }),
      { numRuns: 1_000 },
    );
  });

  it("are refused if kbdump did not write the line", () => {
    expect(() => cellsOf(kind, '{"content":"x"}')).toThrow("did not write");
    expect(() => cellsOf(kind, "")).toThrow("did not write");
  });
});
