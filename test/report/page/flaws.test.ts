import { expect, test } from "vitest";
import { renderSection } from "../../../src/report/page/html.js";
import { drawFlawCounts, flawsSection } from "../../../src/report/page/parts/flaws.js";
import { emptyFacts, sampleFacts } from "./sample-facts.js";

const { flaws } = sampleFacts();
const markupOf = (facts: typeof flaws) => renderSection(flawsSection(facts)).toString();

test("every kind of flaw has a heading, a reason and its rows", () => {
  const markup = markupOf(flaws);
  expect([...markup.matchAll(/<h3>(.*)<\/h3>/g)].map(([, title]) => title)).toEqual([
    "Duplicates",
    "Orphans",
    "Errors",
    "Disabled",
  ]);
  expect(markup).toContain("187 chunks with 31,412 characters repeat a text");
  expect(markup).toContain("17 more rows are not shown.");
  expect(markup).toContain("[openai] Rate limit reached");
  expect(markup.match(/scope="row"/g)).toHaveLength(14 + 2 + 6 + 9);
});

test("copies with different answers are not to be removed unseen", () => {
  const [first] = flaws.duplicates.rows;
  const adviceOf = (answers: number) =>
    markupOf({ ...flaws, duplicates: { rows: first ? [{ ...first, answers }] : [], total: 1, query: null } });
  expect(adviceOf(2)).toContain("Where their answers differ, decide first which one holds.");
  expect(adviceOf(1)).not.toContain("Where their answers differ");
});

test("a kind without a row says none; without any, there is one sentence", () => {
  const { orphans } = emptyFacts().flaws;
  expect(markupOf({ ...flaws, orphans })).toContain("<h3>Orphans</h3>\n<p>None.</p>");
  const clean = markupOf(emptyFacts().flaws);
  expect(clean).toContain("No chunk is a copy, has an error or is disabled, and every child chunk has its parent.");
  expect(clean).not.toContain("<h3>");
});

test("the picture draws each count as its share of the greatest", () => {
  const counts = [
    { title: "Errors", count: 4 },
    { title: "Orphans", count: 1 },
    { title: "Disabled", count: 0 },
  ];
  const svg = drawFlawCounts(counts).toString();
  expect([...svg.matchAll(/class="bar[^>]* width="([^"]*)"/g)].map(([, width]) => width)).toEqual(["100%", "25%"]);
  expect(svg).toContain('<title id="flaw-counts-title">Errors: 4, Orphans: 1, Disabled: 0</title>');
});
