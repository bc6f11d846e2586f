import { expect, test } from "vitest";
import { renderSection } from "../../../src/report/page/html.js";
import { hitsSection } from "../../../src/report/page/parts/hits.js";
import type { DocumentHits, HitFacts } from "../../../src/report/report-facts.js";
import { namesOf, rowsOf, textOf } from "./marks-of.js";
import { emptyFacts } from "./sample-facts.js";

function documentOf(name: string, places: DocumentHits["places"]): DocumentHits {
  const sum = (figure: "enabled" | "never") => places.reduce((all, place) => all + place[figure], 0);
  const [enabled, never] = [sum("enabled"), sum("never")];
  const names = { dataset_id: "s", dataset_name: null, document_id: name, document_name: name };
  return { ...names, enabled, never, hits: enabled - never, places };
}

function render(facts: Partial<HitFacts>, ...documents: DocumentHits[]): string {
  const sum = (figure: "enabled" | "never" | "hits") => documents.reduce((all, each) => all + each[figure], 0);
  const counts = { enabled: sum("enabled"), never: sum("never"), hits: sum("hits") };
  const cut = { rows: documents, total: documents.length, query: null };
  return renderSection(hitsSection({ ...emptyFacts().hits, ...counts, documents: cut, ...facts })).toString();
}

test("a place is filled as high as the share of its chunks that were never retrieved; one without chunks is blank", () => {
  const places = [
    { enabled: 4, never: 1 },
    { enabled: 0, never: 0 },
    { enabled: 2, never: 2 },
    { enabled: 5, never: 0 },
  ];
  const [row = ""] = rowsOf(render({}, documentOf("Handbook", places)));
  const pathOf = (mark: string) => new RegExp(`class="${mark}" d="([^"]*)"`).exec(row)?.[1];
  expect(pathOf("place")).toBe("M0.04 22h.92v-20h-.92zM2.04 22h.92v-20h-.92zM3.04 22h.92v-20h-.92z");
  expect(pathOf("never")).toBe("M0.04 22h.92v-5h-.92zM2.04 22h.92v-20h-.92z");
  expect(row).toContain('viewBox="0 0 4 24"');
});

test("the lead says what is never found, and the picture leaves out documents of which everything is", () => {
  const blind = documentOf("Blind", [{ enabled: 6, never: 6 }]);
  const seen = documentOf("Seen", [{ enabled: 14, never: 0 }]);
  const page = render({ has_history: true }, blind, seen);
  expect(textOf(page)).toContain("30 % of the enabled chunks were never retrieved: 6 of 20.");
  expect(textOf(page)).toContain("Blind has the most of them: 6 of 6. Retrievals before a re-index count, too.");
  expect(textOf(page)).toContain("from 1 of them nothing ever was");
  expect(namesOf(page)).toEqual(["Blind"]);
  expect(textOf(page)).toContain("The picture shows 1 of 2");
  const cut = { rows: [blind, seen], total: 900, query: null };
  expect(textOf(render({ documents: cut }, blind, seen))).toContain(
    "In 1 of the 2 documents with the most such chunks,",
  );
});

test("a knowledge base that nobody ever asked is distinguished from one with faults", () => {
  const text = textOf(render({}, documentOf("New", [{ enabled: 6, never: 6 }])));
  expect(text).toContain("None of the 6 enabled chunks was ever retrieved. This may be a new knowledge base");
});

test("everything found, and no counts at all, are said", () => {
  const all = render({}, documentOf("Seen", [{ enabled: 3, never: 0 }]));
  expect(textOf(all)).toContain("Everything is found: each of the 3 enabled chunks");
  expect(all).not.toContain("<svg");
  const none = render({});
  expect(textOf(none)).toContain("This dump says nothing about it");
  expect(none).not.toContain("<table>");
});

test("a document without a visible name goes by its id", () => {
  const places = [{ enabled: 6, never: 3 }];
  const unnamed = { ...documentOf("a8e0e5b5-78c6", places), document_name: "\u200f \u200b" };
  const page = render({}, unnamed);
  expect(namesOf(page)).toEqual(["a8e0e5b5…"]);
  expect(textOf(page)).toContain("a8e0e5b5-78c6 has the most of them: 3 of 6.");
});

test("after a re-index, the lead counts retrievals that the history knows from before", () => {
  const seen = { ...documentOf("Seen", [{ enabled: 6, never: 0 }]), hits: 0 };
  const page = textOf(render({ has_history: true }, seen));
  expect(page).toContain("Everything is found: each of the 6 enabled chunks was retrieved at least once.");
  expect(page).not.toContain("ever retrieved.");
});
