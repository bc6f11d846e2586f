import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderSection, type Section } from "../../../src/report/page/html.js";
import { changesSection } from "../../../src/report/page/parts/changes.js";
import { freshnessSection } from "../../../src/report/page/parts/freshness.js";
import { hitsSection } from "../../../src/report/page/parts/hits.js";
import { indexingSection } from "../../../src/report/page/parts/indexing.js";
import { lengthsSection } from "../../../src/report/page/parts/lengths.js";
import { rounds } from "../../rounds.js";
import { randomChanges, randomFreshness, randomHits, randomIndexing, randomLengths } from "./random-facts.js";
import { hostileFacts, sampleFacts } from "./sample-facts.js";

const pageOf = (section: Section) => renderSection(section).toString();

const parts: readonly (readonly [name: string, random: fc.Arbitrary<() => string>])[] = [
  ["freshness", randomFreshness.map((facts) => () => pageOf(freshnessSection(facts)))],
  ["lengths", randomLengths.map((facts) => () => pageOf(lengthsSection(facts)))],
  ["indexing", randomIndexing.map((facts) => () => pageOf(indexingSection(facts)))],
  ["changes", randomChanges.map((facts) => () => pageOf(changesSection(facts)))],
  ["hits", randomHits.map((facts) => () => pageOf(hitsSection(facts)))],
];

describe.each(parts)("the picture of %s", (_name, random) => {
  test("is sound, small and the same again, whatever the facts", () => {
    fc.assert(
      fc.property(random, (render) => {
        const page = render();
        expect(wrongAttributes(page)).toEqual([]);
        expect(Buffer.byteLength(pictureIn(page))).toBeLessThan(60_000);
        expect(page).toBe(render());
      }),
      { numRuns: rounds(10, 1000, "KBDUMP_PICTURE_ROUNDS"), endOnFailure: true },
    );
  });
});

test("the sample has five pictures, each of which its finding names, and no id twice", () => {
  for (const facts of [sampleFacts(), hostileFacts()]) {
    const page = [
      freshnessSection(facts.freshness),
      lengthsSection(facts.lengths),
      indexingSection(facts.indexing),
      changesSection(facts.changes),
      hitsSection(facts.hits),
    ]
      .map(pageOf)
      .join("");
    const names = [...page.matchAll(/<div role="img" aria-labelledby="([^"]*)">/g)].map(([, id]) => id);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(names).toHaveLength(5);
    expect(ids).toEqual(expect.arrayContaining(names));
    expect(new Set(ids).size).toBe(ids.length);
    expect(wrongAttributes(page)).toEqual([]);
  }
});

/** Attributes of drawings that are no sound numbers, bars that leave the drawing, and styles that the page does not allow. */
function wrongAttributes(page: string): readonly string[] {
  const drawn = pictureIn(page);
  const numbers = [...drawn.matchAll(/ (?:x|y|x1|x2|y1|y2|width|height)="([^"]*)"/g)].map(([, value = ""]) => value);
  const paths = [...drawn.matchAll(/ d="([^"]*)"/g)].map(([, value = ""]) => value);
  const bars = [...drawn.matchAll(/<rect x="([\d.]+)%" y="[^"]*" width="([\d.]+)%"/g)];
  return [
    ...numbers.filter((value) => !/^(-?\d+(\.\d{1,2})?|\d+(\.\d{1,2})?%)$/.test(value)),
    ...numbers.filter((value) => value.endsWith("%") && Number.parseFloat(value) > 100),
    ...paths.filter((value) => !/^[MhvlzH\d .-]*$/.test(value) || /\d{5}/.test(value)),
    ...bars.filter(([, x, width]) => Number(x) + Number(width) > 100.02).map(([bar]) => bar),
    ...[...page.matchAll(/ (?:style|on[a-z]+)="/g)].map(([tag]) => tag),
    ...[...page.matchAll(/\b(?:NaN|Infinity|undefined)\b/g)].map(([word]) => word),
  ];
}

function pictureIn(page: string): string {
  return page.slice(Math.max(0, page.indexOf("<figure")), page.indexOf("</figure>") + 1);
}
