import fc from "fast-check";
import * as v from "valibot";
import { expect, test } from "vitest";
import { originalSchema, type SavedOriginal } from "../../src/dump/manifest.js";
import { assignPaths } from "../../src/originals/file-names.js";
import { rounds } from "../rounds.js";

function saved(more: Partial<SavedOriginal>): SavedOriginal {
  const ids = { dataset_id: "d", document_id: "x", attachment_id: null, chunk_id: null };
  const facts = { mime_type: null, bytes: 1, expected_bytes: 1, sha256: "0".repeat(64), file_id: null };
  return { ...ids, name: "A.pdf", ...facts, verdict: "complete", reason: null, ...more };
}

const pathsOf = (...all: readonly Partial<SavedOriginal>[]) => assignPaths(all.map(saved)).map(({ path }) => path);

test("files with the same name in one folder get different names, in order", () => {
  expect(
    pathsOf(
      { name: "a-b-c" },
      { attachment_id: "a", name: "b-c" },
      { attachment_id: "a-b", name: "C" },
      { attachment_id: "c", name: null },
      { attachment_id: "e", name: "lost", sha256: null },
    ),
  ).toEqual(["originals/x/a-b-c", "originals/x/_a-b-c", "originals/x/__a-b-C", "originals/x/c-original", null]);
});

test("the same document in a second dataset gets its own folder, including its attachments", () => {
  const [first, second, third] = pathsOf({}, { dataset_id: "e" }, { dataset_id: "e", attachment_id: "f" });
  expect(first).toBe("originals/x/A.pdf");
  expect(second).toMatch(/^originals\/[0-9a-f]{32}\/A\.pdf$/);
  expect(third).toBe(second?.replace("A.pdf", "f-A.pdf"));
});

test("for any names from the service, each file has its own path inside the folder", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("a", "A", "a-b", "..", "", "b-c"));
  const file = fc.record({ document_id: text, attachment_id: fc.option(text), name: fc.option(text) });
  fc.assert(
    fc.property(fc.array(file, { maxLength: 6 }), (files) => {
      const placed = assignPaths(files.map(saved));
      for (const original of placed) expect(v.safeParse(originalSchema, original).success).toBe(true);
      const paths = placed.map(({ path }) => path?.toLowerCase());
      expect(new Set(paths).size).toBe(paths.length);
      expect(paths.every((path) => Buffer.byteLength(path?.split("/")[2] ?? "") <= 255)).toBe(true);
    }),
    { numRuns: rounds(30, 2_000) },
  );
});
