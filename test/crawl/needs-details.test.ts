import { expect, test } from "vitest";
import { type EditEvidence, needsDetails, noEditEvidence, withEvidence } from "../../src/crawl/needs-details.js";
import type { RawRecord } from "../../src/rows/row.js";

const chunk = { enabled: true, updated_by: null, disabled_by: null, created_at: 100, completed_at: 110 };
const ofChunks = (...chunks: readonly RawRecord[]) => withEvidence(noEditEvidence, "chunks", chunks);

test.each<[boolean, string, readonly RawRecord[]]>([
  [false, "no chunk at all", []],
  [false, "chunks as the indexing left them", [chunk, { ...chunk, created_at: 100.5, completed_at: 140 }]],
  [false, "a chunk that was created when the first one was completed", [chunk, { ...chunk, created_at: 110 }]],
  [true, "a chunk that was created after that", [chunk, { ...chunk, created_at: 110.5, completed_at: 111 }]],
  [true, "the same, before the completed one", [{ ...chunk, created_at: 111 }, chunk]],
  [false, "chunks that are not completed", [{ ...chunk, completed_at: null }, { created_at: 900 }]],
  [false, "times that are no numbers", [chunk, { ...chunk, created_at: "2025-03-06", completed_at: "1" }]],
  [true, "an edited chunk", [chunk, { ...chunk, updated_by: "a person" }]],
  [true, "a chunk that a person disabled", [chunk, { ...chunk, disabled_by: "a person" }]],
  [true, "a disabled chunk", [chunk, { ...chunk, enabled: false }]],
  [false, "empty names", [chunk, { ...chunk, updated_by: "", disabled_by: "" }]],
  [false, "an older service, which names no editors", [{ created_at: 100, completed_at: 110 }]],
])("needs details: %s, with %s", (expected, _, chunks) => {
  expect(needsDetails(ofChunks(...chunks))).toBe(expected);
  const byPage = chunks.reduce<EditEvidence>(
    (evidence, each) => withEvidence(evidence, "chunks", [each]),
    noEditEvidence,
  );
  expect(byPage).toEqual(ofChunks(...chunks));
});

test("a customized child chunk needs details, an automatic one does not, and its times say nothing", () => {
  const withChild = (type: unknown) => withEvidence(ofChunks(chunk), "child_chunks", [{ type, created_at: 900 }]);
  expect(["automatic", "customized", null].map((type) => needsDetails(withChild(type)))).toEqual([false, true, false]);
});
