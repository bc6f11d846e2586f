import { expect, test } from "vitest";
import { copiesOfJournal, copiesOfPlan } from "../../../src/restore/copy/compare-with-target.js";
import type { DatasetPlan, DocumentPlan, LossPart } from "../../../src/restore/copy/copy-plan.js";
import { noFacts } from "../../../src/restore/journal-facts.js";

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
const loss = (part: LossPart) => ({ part, rows: 1, reason: "" });

test("a journal has the names and uploads; an existing dataset keeps its own settings", () => {
  const copies = copiesOfJournal(facts, false);
  expect(copies.datasets).toEqual(
    new Map([
      ["made/M", { name: "Made (2)", existed: false }],
      ["made/Q", { name: "Made (qa_model)", existed: false }],
      ["named/A", { name: "Named (qa_model)", existed: true }],
      ["named/N", { name: "Named", existed: true }],
    ]),
  );
  expect(["uploaded", "other"].map(copies.attachmentOf)).toEqual(["U", undefined]);
  expect(["uploaded", "other"].map(copiesOfJournal(facts, true).attachmentOf)).toEqual(["U", "other"]);
});

test("a plan has its losses and unchanged attachments; failed rows were already reported", () => {
  const file = { path: "/f", name: "f", mime_type: null, bytes: 1, sha256: "" };
  const document = {
    ...{ document_id: "a", losses: [loss("metadata"), loss("process rule")] },
    attachments: [
      { id: "kept", file: null },
      { id: "unsent", file },
    ],
  } as unknown as DocumentPlan;
  const target = { kind: "new", name: "New" } as const;
  const dataset = {
    ...{ key: "named/qa_model", dataset_id: "named" },
    target,
    losses: [],
    documents: [document],
  } as unknown as DatasetPlan;
  const failed = [{ level: "chunk" as const, id: "row", position: 1, reason: "" }];
  const copied = { documents: [{ failed }] } as unknown as Parameters<typeof copiesOfPlan>[2]["copied"];
  const applied = { copied, missingTags: new Map([["named/qa_model", ["blue"]]]) };
  const copies = copiesOfPlan({ datasets: [dataset] }, facts, applied);
  expect(copies.datasets.get("named/A")).toEqual({ name: "New", existed: true, missingTags: new Set(["blue"]) });
  expect(copies.losses.get("a")).toEqual(new Set(["metadata", "process rule"]));
  expect(["kept", "unsent", "uploaded"].map(copies.attachmentOf)).toEqual(["kept", undefined, "U"]);
  expect(copies.failed).toEqual(new Set(["row"]));
});
