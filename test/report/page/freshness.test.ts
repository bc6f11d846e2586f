import { expect, test } from "vitest";
import { renderSection } from "../../../src/report/page/html.js";
import { freshnessSection } from "../../../src/report/page/parts/freshness.js";
import type { FreshnessFacts, ReadState } from "../../../src/report/report-facts.js";
import { marksOf, textOf } from "./marks-of.js";
import { emptyFacts, sampleFacts } from "./sample-facts.js";

const day = 86_400_000;
const asOf = Date.UTC(2026, 10, 20);
const none: Readonly<Record<ReadState, number>> = {
  fresh: 0,
  stale: 0,
  unstable: 0,
  "never read": 0,
  "not in this run": 0,
};
const named = { dataset_id: "s", dataset_name: null, document_id: "d", document_name: "Handbook" };

function render(facts: Partial<FreshnessFacts>): string {
  return renderSection(freshnessSection({ ...emptyFacts().freshness, as_of: asOf, ...facts })).toString();
}

test("every state of a span has a fill of its own, as high as its documents are many", () => {
  const page = render({
    spans: [
      { from: asOf - 20 * day, to: asOf - 10 * day, documents: { ...none, fresh: 4 } },
      { from: asOf - 10 * day, to: asOf, documents: { ...none, fresh: 1, stale: 1 } },
    ],
  });
  const [, , ...bars] = marksOf(page); // two keys come first
  expect(bars.map(({ fill }) => fill)).toEqual(["mark-1", "mark-1", "spans-stale"]);
  const [four, one, stale] = bars.map(({ height }) => height);
  expect([four, stale]).toEqual([4 * (one ?? 0), one]);
  expect(bars.map(({ x }) => x < 50)).toEqual([true, false, false]);
  expect(textOf(page)).toContain("5 fresh 1 stale");
});

test("the finding says since when half of the documents have not changed", () => {
  const spans = [3, 2, 1].map((fresh, at) => ({
    from: asOf - (3 - at) * day,
    to: asOf - (2 - at) * day,
    documents: { ...none, fresh },
  }));
  expect(render({ spans })).toMatch(/3 of 6 documents have not changed since <time datetime="2026-11-18">/);
});

test("times that no calendar has get no dates, rather than a search for them without end", () => {
  const end = -8.64e15 + 3e10;
  const page = render({ spans: [{ from: -8.64e15, to: end, documents: { ...none, fresh: 1 } }] });
  expect(page).toContain("<svg");
  expect(page).not.toMatch(/NaN|Invalid/);
});

test("one time of a change, and none, are sound", () => {
  const one = render({ spans: [{ from: asOf, to: asOf, documents: { ...none, fresh: 1 } }] });
  expect(marksOf(one).at(-1)?.width).toBeGreaterThan(90);
  expect(one).toMatch(/The last change was on <time[^>]*>2026-11-20</);
  const two = render({ states: { ...none, fresh: 1, stale: 1 } });
  expect(two).toContain("1 of 2 documents is fresh: this run read it whole.");
  expect(render({})).not.toContain("<svg");
  expect(render({})).toContain("The dump holds no document.");
});

test("the lead counts the fresh documents and names the one that changed longest ago", () => {
  const documents = [4, 9, null].map((age, at) => ({
    ...named,
    document_name: `Document ${at}`,
    state: "fresh" as const,
    read_well_at: asOf,
    changed_at: age === null ? null : asOf - age * day,
    chunks: 1,
  }));
  const page = render({
    states: { ...none, fresh: 3, "never read": 1 },
    documents: { rows: documents, total: 3, query: null },
  });
  const text = textOf(page);
  expect(text).toContain("3 of 4 documents are fresh");
  expect(text).toContain("that of Document 1, 9 d before this run");
  expect(text).toContain("1 never read: no run has read them whole so far.");
  expect(text).toContain("earlier reads are not known");
  const unread = documents.map((document) => ({ ...document, state: "stale" as const }));
  expect(textOf(render({ documents: { rows: unread, total: 300, query: null } }))).not.toContain("oldest last change");
});

test("all of the documents can be fresh", () => {
  const { freshness } = sampleFacts();
  const page = render({ ...freshness, states: { ...none, fresh: 31 } });
  expect(textOf(page)).toContain("All 31 documents are fresh");
});
