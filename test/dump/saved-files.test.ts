import { expect, test } from "vitest";
import type { Original } from "../../src/dump/manifest.js";
import { attachmentFiles } from "../../src/dump/open-dump.js";
import { manifestOf } from "./manifest-of.js";

const hash = "0".repeat(64);
const attachment: Original = {
  ...{ dataset_id: "d", document_id: "x", attachment_id: "a", chunk_id: "c", file_id: "a" },
  ...{ path: "originals/x/a-Plan.png", name: "Plan.png", mime_type: "image/png", bytes: 3, expected_bytes: 3 },
  ...{ sha256: hash, verdict: "complete", reason: null },
};

test("complete attachments come by their ids, the first of several copies", () => {
  const originals: readonly Original[] = [
    { ...attachment, attachment_id: null, chunk_id: null },
    attachment,
    { ...attachment, document_id: "y", path: "originals/y/a-Plan.png" },
    { ...attachment, attachment_id: "b", path: "originals/x/b-original", name: null },
    { ...attachment, attachment_id: "short", verdict: "wrong size" },
    { ...attachment, attachment_id: "none", verdict: "missing", path: null, sha256: null },
  ];
  const facts = { mime_type: "image/png", bytes: 3, sha256: hash };
  expect(attachmentFiles({ folder: "/dump", manifest: manifestOf({ originals: [...originals] }) })).toEqual(
    new Map([
      ["a", { path: "/dump/originals/x/a-Plan.png", name: "Plan.png", ...facts }],
      ["b", { path: "/dump/originals/x/b-original", name: "b-original", ...facts }],
    ]),
  );
  expect(attachmentFiles({ folder: "/dump", manifest: manifestOf({}) })).toEqual(new Map());
});
