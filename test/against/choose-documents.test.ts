import { expect, test } from "vitest";
import { chooseDocuments, drawDocuments } from "../../src/against/against-service.js";
import type { Manifest } from "../../src/dump/manifest.js";
import { type JournalFacts, noFacts } from "../../src/journal/journal-state.js";

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

const copy = (target_id: string, state: "begun" | "restored") =>
  ({ target_id, target_dataset_id: "D", state }) as const;
const copied: JournalFacts = {
  ...noFacts,
  isBegun: true,
  documents: new Map([
    ["a", copy("A", "restored")],
    ["b", copy("B", "begun")],
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
      "2 documents of the run: not compared, because the journal has no finished copy",
    ],
  });
});

test("a document that the run does not have is refused", () => {
  expect(() => choose(noFacts, ["a", "x", "y"])).toThrow(
    "The documents cannot be compared:\n  --document: the run has no document x\n  --document: the run has no document y",
  );
});

test.each([
  [0.05, 20, 1],
  [0.05, 21, 2],
  [0.001, 3, 1],
  [1, 3, 3],
])("a sample of %d of %i documents has %i of them, in their order", (share, many, expected) => {
  const ids = Array.from({ length: many }, (_, at) => `${at}`.padStart(2, "0"));
  const whole = chooseDocuments({ documents: ids.map((id) => row(id)), options } as unknown as Manifest, noFacts, []);
  const drawn = new Set<string>();
  for (let time = 0; time < 200; time++) {
    const { pairs, notes } = drawDocuments(whole, share);
    const found = pairs.map(({ old }) => old.document_id);
    expect(found).toEqual(found.toSorted());
    expect(new Set(found).size).toBe(expected);
    expect(notes[0]).toContain(`${expected} document${expected === 1 ? "" : "s"} of ${many}, drawn at random, `);
    for (const id of found) drawn.add(id);
  }
  expect(drawn.size).toBeGreaterThan(many / 2);
});
