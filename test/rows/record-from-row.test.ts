import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allKinds, type Kind } from "../../src/rows/columns.js";
import { ExactNumber, jsonText, parseJson } from "../../src/rows/exact-json.js";
import type { Row } from "../../src/rows/row.js";
import { recordFromRow, rowFromRecord } from "../../src/rows/row-from-record.js";
import { inFull } from "../rounds.js";
import { jsonValues } from "./json-arbitrary.js";
import { knownOf, recordsOf } from "./record-arbitrary.js";

const rowOf = (kind: Kind, record: Record<string, unknown>, keepSignatures = false): Row =>
  rowFromRecord(kind, record, knownOf(kind), { keepSignatures, drift: () => {} });

/** A value after it was written as JSON and read again. */
const throughJson = (value: unknown) => parseJson(jsonText(value)) as Record<string, unknown>;

/** Whether two names differ only in lone surrogates, so that they are the same name in a file. */
function hasTwins(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const names = Object.keys(value);
  return new Set(names.map((name) => name.toWellFormed())).size < names.length || Object.values(value).some(hasTwins);
}

describe("recordFromRow", () => {
  it("has times as Unix seconds, fields of extra among the others, and no null that no service sends", () => {
    const record = {
      id: "c",
      position: "1",
      content: "text",
      created_at: 1741267200,
      completed_at: 1741267200.123,
      stopped_at: 1741267200.123456,
      indexing_at: "yesterday",
      error: "12",
      summary: { a: new ExactNumber("9007199254740993") },
      language_hint: "de",
      dataset_id: "other",
      child_chunks: "none",
    };
    expect(recordFromRow("chunks", rowOf("chunks", record))).toEqual({
      ...record,
      document_id: "document",
      ...Object.fromEntries(
        ["answer", "word_count", "tokens", "keywords", "index_node_id", "index_node_hash", "hit_count", "enabled"]
          .concat(["disabled_at", "disabled_by", "status", "created_by", "updated_by"])
          .map((name) => [name, null]),
      ),
    });
  });

  it("names the parent of a child chunk, and the document of a status entry as the service does", () => {
    expect(recordFromRow("child_chunks", rowOf("child_chunks", { id: "k" }))).toMatchObject({
      id: "k",
      segment_id: "segment",
    });
    const entry = recordFromRow("indexing_status", rowOf("indexing_status", { id: "d", document_id: 7 }));
    expect(entry).toMatchObject({ id: "d", document_id: 7 });
    expect(Object.keys(entry)).not.toContain("batch");
  });

  it("keeps a document_id that contradicts, in its place among the fields of extra", () => {
    const row = rowOf("chunks", { x: 1, document_id: "other", y: 2 });
    expect(Object.entries(recordFromRow("chunks", row)).slice(-3)).toEqual([
      ["x", 1],
      ["document_id", "other"],
      ["y", 2],
    ]);
  });

  it("treats a value that is not a row as an empty row", () => {
    const row = { ...rowOf("chunks", {}), created_at: "soon", extra: new ExactNumber("1e400") };
    expect(recordFromRow("chunks", row)).toMatchObject({ created_at: null });
  });

  it.runIf(inFull).each<Kind>(allKinds.filter((kind) => kind !== "documents"))(
    "gives what makes the same row of %s again, byte for byte, by whatever way it went",
    (kind) => {
      const extras = fc.option(fc.dictionary(fc.constantFrom("1", "0", "z", "a", "extra", "batch"), jsonValues), {
        nil: {},
      });
      fc.assert(
        fc.property(recordsOf(kind), extras, fc.boolean(), (record, more, keepSignatures) => {
          fc.pre(!hasTwins(record) && !hasTwins(more));
          const row = rowOf(kind, { ...record, ...more }, keepSignatures);
          const again = rowOf(kind, throughJson(recordFromRow(kind, throughJson(row))), keepSignatures);
          expect(jsonText(again)).toBe(jsonText(row));
          expect(rowOf(kind, recordFromRow(kind, row), keepSignatures)).toEqual(row);
        }),
        { numRuns: 300 },
      );
    },
  );
});
