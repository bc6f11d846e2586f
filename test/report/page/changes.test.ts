import { expect, test } from "vitest";
import { renderSection } from "../../../src/report/page/html.js";
import { changesSection } from "../../../src/report/page/parts/changes.js";
import { type ChangedKind, changedKinds, type RunChanges } from "../../../src/report/report-facts.js";
import { marksOf, rowsOf, textOf } from "./marks-of.js";
import { emptyFacts } from "./sample-facts.js";

const start = Date.UTC(2026, 10, 1);
const nothing = Object.fromEntries(changedKinds.map((kind) => [kind, 0])) as Record<ChangedKind, number>;

function runOf(day: number, counts: Partial<Record<ChangedKind, number>> | null): RunChanges {
  return {
    run_id: `run ${day}`,
    started_at: start + day * 86_400_000,
    status: "complete",
    chunks: 5000,
    counts: counts && { ...nothing, ...counts },
  };
}

function render(...runs: RunChanges[]): string {
  return renderSection(changesSection({ runs, total: runs.length, query: null, reason: null })).toString();
}

const places = (row = "") => marksOf(row).map(({ x, width, fill }) => [x, width, fill]);

test("removed chunks go to the left of the middle, the others to the right, child chunks below them", () => {
  const [row = ""] = rowsOf(render(runOf(1, { removed: 10, added: 20, changed: 10, children_removed: 5 })));
  expect(places(row)).toEqual([
    [0, 25, "mark-2"],
    [25, 50, "mark-3"],
    [75, 25, "mark-1"],
    [12.5, 12.5, "mark-2"],
  ]);
  const [chunks, , , children] = marksOf(row);
  expect(children?.y).toBeGreaterThan((chunks?.y ?? 0) + (chunks?.height ?? 0));
});

test("one run that changed 100,000 chunks does not flatten runs that changed three: its bar is cut, and its number says it", () => {
  const [many = "", few = ""] = rowsOf(render(runOf(1, { added: 3 }), runOf(2, { added: 100_000 })));
  expect(places(few)).toEqual([[0, 100, "mark-3"]]);
  expect(few).not.toContain('class="break"');
  expect(places(many)).toEqual([[0, 100, "mark-3"]]);
  expect(many).toContain('class="break"');
  expect(textOf(many)).toContain("100,000");
});

test("the newest run comes first; a re-index and a partial run have a word", () => {
  const page = render(runOf(1, null), { ...runOf(2, { added: 1 }), status: "partial" }, runOf(3, { reindexed: 7 }));
  const [newest, partial, first] = rowsOf(page).map(textOf);
  expect(newest).toMatch(/2026-11-04 00:00.*7 re-index$/);
  expect(partial).toContain("partial");
  expect(first).toContain("no earlier run");
  expect(textOf(page)).toContain("1 run found re-indexed chunks, the last time on 2026-11-04 (7 chunks)");
});

test("runs without a change, and a first run, have no picture but a table", () => {
  for (const run of [runOf(1, {}), runOf(1, null)]) {
    expect(render(run)).not.toContain("<svg");
    expect(render(run)).toContain("<table>");
  }
  expect(textOf(render(runOf(1, {})))).toContain("This run found nothing changed.");
  expect(textOf(render(runOf(1, null)))).toContain("changes show from the next run on");
});

test("a job without history learns why, and how to keep one", () => {
  const text = textOf(renderSection(changesSection(emptyFacts().changes)).toString());
  expect(text).toContain("There is no history to show. The job has no database");
  expect(text).toContain("duckdb among output.formats");
});
