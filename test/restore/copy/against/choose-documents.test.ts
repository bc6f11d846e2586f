import { expect, test } from "vitest";
import type { Manifest } from "../../../../src/dump/manifest.js";
import { chooseDocuments } from "../../../../src/restore/copy/against.js";
import { type JournalFacts, noFacts } from "../../../../src/restore/copy/copy-result.js";

const row = (document_id: string, dataset_id = "d", status: "complete" | "unstable" | "failed" = "complete") => ({
  ...{ dataset_id, document_id, doc_form: "text_model", status, error: null },
  ...{ total: 1, chunk_count: 1, child_chunk_count: 0, sweeps: 1 },
});
const documents = [row("a"), row("b"), row("c", "d", "unstable"), row("e", "filtered")];
const datasets = [
  { id: "d", documents: "all" },
  { id: "filtered", keyword: "word" },
];
const options = { output: { formats: ["jsonl" as const], csv_safe: false }, datasets };

function choose(facts: JournalFacts, ids: readonly string[] = []) {
  const { pairs, notes } = chooseDocuments({ documents, options } as unknown as Manifest, facts, ids);
  return { pairs: pairs.map(({ old, live }) => [old.document_id, `${live.dataset_id}/${live.document_id}`]), notes };
}

const copy = (target_id: string, state: "begun" | "restored" | "failed") =>
  ({ target_id, target_dataset_id: "D", state, reason: null }) as const;
const copied: JournalFacts = {
  ...noFacts,
  from: "chunks",
  documents: new Map([
    ["a", copy("A", "restored")],
    ["b", copy("B", "failed")],
    ["c", copy("C", "begun")],
  ]),
};

test("without a journal, documents are the same ones; those that are not whole in the run are left out", () => {
  expect(choose(noFacts)).toEqual({
    pairs: [
      ["a", "d/a"],
      ["b", "d/b"],
    ],
    notes: [
      "1 document of the run: not compared, as the run could not read all of it",
      "1 document of the run: not compared, as the job has a filter (status, keyword)",
    ],
  });
  expect(choose(noFacts, ["b"])).toEqual({ pairs: [["b", "d/b"]], notes: [] });
});

test("with a journal, documents are those that are restored, and their copies", () => {
  expect(choose(copied)).toEqual({
    pairs: [["a", "D/A"]],
    notes: [
      "1 document of the run: not compared, as the run could not read all of it",
      "2 documents of the run: not compared, as there is no finished copy by the journal",
    ],
  });
});

test("a document that the run does not have is refused", () => {
  expect(() => choose(noFacts, ["a", "x", "y"])).toThrow(
    "The documents cannot be compared:\n  --document: the run has no document x\n  --document: the run has no document y",
  );
});
