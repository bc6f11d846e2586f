import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Listed } from "../../src/client/check-answer.js";
import {
  type ChildEvidence,
  evidenceOfPage,
  forecastLists,
  listCounts,
  noEvidence,
  planChildren,
  sampleOf,
  sampleSize,
  supposedChildren,
  withPage,
} from "../../src/crawl/auto-child-lists.js";
import { embeddedChildren } from "../../src/crawl/embedded-children.js";

const textOf = (child: Listed) => JSON.stringify(child);
const children = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `k${at}` }));
const chunk = (id: number, count: number): Listed => ({ id: `c${id}`, child_chunks: children(count) });

/** The evidence that `auto` has of a document that is read in pages. `counts`: how many children each chunk embeds. */
function evidenceOf(docForm: string | null, counts: readonly number[], pageSize = 100): ChildEvidence {
  const records = counts.map((count, at) => chunk(at, count));
  let evidence = noEvidence;
  for (let at = 0; at < records.length || at === 0; at += pageSize) {
    const page = { records: records.slice(at, at + pageSize), docForm, total: counts.length };
    evidence = withPage(evidence, page, textOf);
  }
  return evidence;
}

const placesOf = (evidence: ChildEvidence) => sampleOf(evidence).map(({ index }) => index);
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

test.each<[string, unknown, number | undefined]>([
  ["two children", [{ id: "a" }, { id: "b" }], 2],
  ["none", [], 0],
  ["null", null, 0],
  ["no such field", undefined, 0],
  ["an object", {}, undefined],
  ["a string", "ab", undefined],
  ["an id twice", [{ id: "a" }, { id: "a" }], undefined],
  ["no id", [{ id: "a" }, {}], undefined],
  ["an empty id", [{ id: "" }], undefined],
  ["half a character as an id", [{ id: "\ud800" }], undefined],
  ["a child that is null", [null], undefined],
])("a chunk with %s embedded", (_, value, count) => {
  const record = value === undefined ? { id: "c" } : { id: "c", child_chunks: value };
  expect(embeddedChildren(record)?.length).toBe(count);
});

describe("what the pages suggest", () => {
  test.each<[string, ChildEvidence, string, string]>([
    ["text without", evidenceOf("text_model", [0, 0]), "none", "no chunk of this text_model document embeds children"],
    ["questions without", evidenceOf("qa_model", [0]), "none", "no chunk of this qa_model document embeds children"],
    ["text with", evidenceOf("text_model", [0, 1]), "lists", "some chunks embed children, which is not usual"],
    ["parents with", evidenceOf("hierarchical_model", [0, 3, 1]), "embedded", "2 of 3 chunks embed children"],
    ["parents without", evidenceOf("hierarchical_model", [0, 0]), "lists", "no chunk embeds its children"],
    ["no form", evidenceOf(null, [0, 0]), "lists", "the service names no doc_form"],
    ["another form", evidenceOf("graph", [0, 0]), "lists", 'nothing is known of doc_form "graph"'],
    ["no chunks", evidenceOf("text_model", []), "lists", "there are no chunks"],
  ])("%s", (_, evidence, source, reason) => {
    expect(supposedChildren(evidence)).toMatchObject({ source, reason: expect.stringContaining(reason) });
  });

  test("nothing, where a chunk embeds what is no list of children, or pages name two forms", () => {
    const broken = {
      records: [chunk(0, 2), { id: "c1", child_chunks: [{}] }],
      docForm: "hierarchical_model",
      total: 2,
    };
    expect(supposedChildren(withPage(noEvidence, broken, textOf)).source).toBe("lists");
    const one = { records: [chunk(0, 0)], docForm: "text_model", total: 2 };
    for (const docForm of ["qa_model", null]) {
      const evidence = withPage(withPage(noEvidence, one, textOf), { ...one, docForm }, textOf);
      expect(supposedChildren(evidence)).toEqual({
        source: "lists",
        reason: "doc_form is not the same on every page",
      });
    }
  });
});

describe("the sample", () => {
  test("of a document without children is spread from its first chunk to its last", () => {
    expect(placesOf(evidenceOf("text_model", times(700, 0)))).toEqual([0, 175, 350, 524, 699]);
    expect(placesOf(evidenceOf("qa_model", times(3, 0)))).toEqual([0, 1, 2]);
  });

  test("of embedded children has the first chunk of each quarter that embeds any, and the one that embeds most", () => {
    const counts = times(400, 1).map((_, at): number => (at % 10 === 7 ? 2 : 0));
    expect(placesOf(evidenceOf("hierarchical_model", counts))).toEqual([7, 107, 207, 307]);
    counts[166] = 250;
    counts[266] = 250;
    const evidence = evidenceOf("hierarchical_model", counts);
    expect(placesOf(evidence)).toEqual([7, 107, 166, 207, 307]);
    expect(evidence.largest).toMatchObject({ index: 166, rows: 250 });
  });

  test("is empty if every list is read anyway", () => {
    expect(sampleOf(evidenceOf("graph", times(50, 1)))).toEqual([]);
  });
});

const forms = fc.constantFrom("text_model", "qa_model", "hierarchical_model", "graph", null);
const counts = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(6)), { maxLength: 60 });

describe("always", () => {
  test("asked, embedded and skipped add up, and more is asked for if the sample disagrees", () => {
    fc.assert(
      fc.property(forms, counts, (form, embedded) => {
        const evidence = evidenceOf(form, embedded, 7);
        const sample = placesOf(evidence);
        for (const differing of [undefined, ...sample]) {
          const plan = planChildren(evidence, differing);
          const { asked, embedded: taken, skipped } = listCounts(evidence, plan);
          expect(asked + taken + skipped).toBe(embedded.length);
          expect(Math.min(asked, taken, skipped)).toBeGreaterThanOrEqual(0);
          if (differing !== undefined) expect(asked).toBe(embedded.length);
          expect(plan.reason).not.toBe("");
        }
      }),
    );
  });

  test("the sample is in order, of distinct chunks, and bounded; and the evidence is the same however it is paged", () => {
    fc.assert(
      fc.property(forms, counts, fc.integer({ min: 1, max: 70 }), (form, embedded, pageSize) => {
        const evidence = evidenceOf(form, embedded, pageSize);
        const sample = placesOf(evidence);
        expect(sample).toEqual([...new Set(sample)].sort((a, b) => a - b));
        expect(sample.length).toBeLessThanOrEqual(sampleSize);
        expect(evidence).toEqual(evidenceOf(form, embedded, 7));
        for (const { index, rows } of sampleOf(evidence)) expect(embedded[index]).toBe(rows);
      }),
    );
  });

  test("a forecast from all pages equals the plan, and one from the first page is between nothing and all", () => {
    fc.assert(
      fc.property(forms, counts, (form, embedded) => {
        const evidence = evidenceOf(form, embedded, 7);
        const exact = listCounts(evidence, planChildren(evidence, undefined));
        expect(forecastLists(evidence, embedded.length)).toEqual(exact);
        const records = embedded.slice(0, 7).map((count, at) => chunk(at, count));
        const total = embedded.length;
        const forecast = forecastLists(evidenceOfPage({ records, docForm: form, total }), total);
        expect(forecast.asked + forecast.embedded + forecast.skipped).toBe(total);
        expect(Math.min(forecast.asked, forecast.embedded, forecast.skipped)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

test("a document of many chunks, forecast from the first page: about the same share of lists", () => {
  const records = times(100, 0).map((_, at) => chunk(at, at % 4));
  const page = { records, docForm: "hierarchical_model", total: 10_000 };
  expect(forecastLists(evidenceOfPage(page), 10_000)).toEqual({ asked: 2_505, embedded: 7_495, skipped: 0 });
  const text = { records: times(100, chunk(0, 0)), docForm: "text_model", total: 10_000 };
  expect(forecastLists(evidenceOfPage(text), 10_000)).toEqual({ asked: 5, embedded: 0, skipped: 9_995 });
});
