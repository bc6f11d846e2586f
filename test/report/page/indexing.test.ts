import { expect, test } from "vitest";
import { renderSection } from "../../../src/report/page/html.js";
import { indexingSection } from "../../../src/report/page/parts/indexing.js";
import type { DocumentIndexing, IndexingFacts } from "../../../src/report/report-facts.js";
import { marksOf, rowsOf, textOf } from "./marks-of.js";
import { emptyFacts, sampleFacts } from "./sample-facts.js";

const minute = 60_000;
const start = Date.UTC(2026, 10, 20);
const done: DocumentIndexing = {
  dataset_id: "s",
  dataset_name: null,
  document_id: "d",
  document_name: "Handbook",
  batch: "20261120",
  indexing_status: "completed",
  started_at: start,
  parsed_at: start + 2 * minute,
  cleaned_at: start + 3 * minute,
  split_at: start + 5 * minute,
  completed_at: start + 10 * minute,
  paused_at: null,
  stopped_at: null,
  captured_at: start + 60 * minute,
  unmoved: null,
  completed_segments: 40,
  total_segments: 40,
  error: null,
};
const stuck: DocumentIndexing = {
  ...done,
  document_name: "Stuck",
  indexing_status: "indexing",
  completed_at: null,
  captured_at: start + 3000 * minute,
  unmoved: 2940 * minute,
  completed_segments: 10,
};

function render(rows: readonly DocumentIndexing[], facts: Partial<IndexingFacts> = {}): string {
  const states = rows.map(({ indexing_status }) => ({ status: indexing_status, documents: 1 }));
  const documents = { rows, total: rows.length, query: null };
  return renderSection(
    indexingSection({ ...emptyFacts().indexing, was_asked: true, states, documents, ...facts }),
  ).toString();
}

test("the bar of a document has its stages one after the other, from its own beginning", () => {
  const later = { ...done, ...shifted(done, 9_000 * minute) };
  const [first, second] = rowsOf(render([done, later])).map(marksOf);
  expect(first?.map(({ x, width, fill }) => [x, width, fill])).toEqual([
    [0, 20, "mark-6"],
    [20, 10, "mark-5"],
    [30, 20, "mark-8"],
    [50, 50, "mark-3"],
  ]);
  expect(second).toEqual(first);
});

test("a stage whose end nobody says is part of the next one", () => {
  const [row = ""] = rowsOf(render([{ ...done, parsed_at: null, cleaned_at: null }]));
  expect(marksOf(row).map(({ x, width, fill }) => [x, width, fill])).toEqual([
    [0, 50, "mark-8"],
    [50, 50, "mark-3"],
  ]);
});

test("a document that is stuck is hatched up to the edge of the scale, which the completed ones set, and is cut there", () => {
  const [open = "", completed = ""] = rowsOf(render([stuck, done]));
  const hatched = marksOf(open).at(-1);
  expect(hatched?.fill).toBe("indexing-open");
  expect((hatched?.x ?? 0) + (hatched?.width ?? 0)).toBe(100);
  expect(open).toContain('class="break"');
  expect(textOf(open)).toContain("indexing 25 % 2 d 2 h");
  expect(marksOf(completed).at(-1)).toMatchObject({ x: 50, width: 50, fill: "mark-3" });
  expect(completed).not.toContain('class="break"');
});

test("an error has a hatch of its own and ends where the service stopped; a document that did not begin has no bar", () => {
  const failed = { ...stuck, indexing_status: "error", split_at: null, stopped_at: start + 4 * minute, error: "quota" };
  const waiting = { ...stuck, indexing_status: "waiting", started_at: null };
  const page = render([failed, waiting, done]);
  const [error = "", none = ""] = rowsOf(page);
  expect(marksOf(error).at(-1)).toMatchObject({ x: 30, width: 10, fill: "indexing-failed" });
  expect(marksOf(none)).toEqual([]);
  expect(textOf(none)).toContain("waiting");
  expect(textOf(page)).toContain("quota");
});

test("the lead answers what is stuck", () => {
  expect(textOf(render([stuck, done]))).toContain(
    "1 document not indexed to the end: 1 indexing. Stuck has not moved for 2 d 1 h. The batches have 2 documents.",
  );
  const failed = textOf(render([{ ...stuck, indexing_status: "error" }, done]));
  expect(failed).toContain("1 document ended in an error: Stuck. The batches have 2 documents.");
  expect(failed).not.toMatch(/has not moved|before the last reading/);
  expect(textOf(render([done]))).toContain("Nothing is stuck: the one document of the batches is completed");
});

test("a job without batches learns how to get a timeline, and still sees lists and chunks", () => {
  const { listed, chunks } = sampleFacts().indexing;
  const page = render([], { was_asked: false, listed, chunks });
  expect(page).not.toContain("<svg");
  expect(textOf(page)).toContain("Add batches: [&lt;batch&gt;] to a dataset of the job file");
  expect(textOf(page)).toContain("The service lists 3 documents with another state");
  expect(textOf(page)).toContain("245 chunks are not completed.");
});

function shifted(document: DocumentIndexing, by: number): Partial<DocumentIndexing> {
  const times = Object.entries(document).filter(([name, value]) => name.endsWith("_at") && value !== null);
  return Object.fromEntries(times.map(([name, value]) => [name, Number(value) + by]));
}

test("batches without a reading are named, and nothing is said to be well with them", () => {
  expect(textOf(render([], { unread_batches: 2 }))).toContain("No reading came of 2 batches that the job names");
  expect(textOf(render([], { unread_batches: 2 }))).not.toContain("hold no document");
});
