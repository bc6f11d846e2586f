import { expect, test } from "vitest";
import { noFacts } from "../../../src/journal/journal-state.js";
import { copiesOf } from "../../../src/restore/copy/compare-live.js";
import type { AppliedCopy } from "../../../src/restore/copy/copy-result.js";

const facts = {
  ...noFacts,
  datasets: new Map([
    ["made", { id: "M", name: "Made (2)" }],
    ["made/qa_model", { id: "Q", name: "Made (qa_model)" }],
    ["named/qa_model", { id: "A", name: "Named (qa_model)", existed: true as const }],
    ["named", { id: "N", name: "Named", existed: true as const }],
  ]),
  attachments: new Map([["uploaded", "U"]]),
};

test("a journal has the names and uploads; an existing dataset keeps its own settings", () => {
  const copies = copiesOf(facts, false);
  expect(copies.datasets).toEqual(
    new Map([
      ["made/M", { name: "Made (2)", existed: false, missingTags: [] }],
      ["made/Q", { name: "Made (qa_model)", existed: false, missingTags: [] }],
      ["named/A", { name: "Named (qa_model)", existed: true, missingTags: [] }],
      ["named/N", { name: "Named", existed: true, missingTags: [] }],
    ]),
  );
  expect(copies.failed).toEqual(new Set());
  expect(["uploaded", "other"].map(copies.attachmentOf)).toEqual(["U", undefined]);
  expect(["uploaded", "other"].map(copiesOf(facts, true).attachmentOf)).toEqual(["U", "other"]);
});

test("a command knows the current names of datasets, and has already reported failed rows and tags", () => {
  const failed = [{ level: "chunk", id: "row", position: 1, reason: "" }];
  const applied = {
    plan: { datasets: [{ key: "named/qa_model", target: { kind: "there", id: "A", name: "New" } }] },
    copied: { documents: [{ failed }] },
    missingTags: new Map([["named/qa_model", ["blue"]]]),
  } as unknown as AppliedCopy;
  const copies = copiesOf(facts, false, applied);
  expect(copies.datasets.get("named/A")).toEqual({ name: "New", existed: true, missingTags: ["blue"] });
  expect(copies.datasets.get("named/N")).toEqual({ name: "Named", existed: true, missingTags: [] });
  expect(copies.failed).toEqual(new Set(["row"]));
});
