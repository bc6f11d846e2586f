import { expect, test } from "vitest";
import { renderSection } from "../../../src/report/page/html.js";
import { lengthsSection } from "../../../src/report/page/parts/lengths.js";
import type { Lengths } from "../../../src/report/report-facts.js";
import { marksOf, namesOf, rowsOf, textOf } from "./marks-of.js";

const even: Lengths = {
  chunks: 9,
  characters: 900,
  tokens: 200,
  shortest: 100,
  quartile_1: 200,
  median: 300,
  quartile_3: 400,
  longest: 500,
};
const named = (name: string) => ({ dataset_id: "s", dataset_name: null, document_id: name, document_name: name });

function render(all: Lengths | undefined, documents: Readonly<Record<string, Lengths>> = {}, total?: number): string {
  const rows = Object.entries(documents).map(([name, lengths]) => ({ ...named(name), ...lengths }));
  return renderSection(
    lengthsSection({ all, documents: { rows, total: total ?? rows.length, query: null } }),
  ).toString();
}

test("a box goes from quartile to quartile, a line from the shortest to the longest", () => {
  const [row = ""] = rowsOf(render(even));
  expect(marksOf(row)).toEqual([{ x: 40, width: 40, y: 5, height: 10, fill: "box" }]);
  expect(row).toContain('<line class="whisker" x1="20%" x2="100%"');
  expect(row).toContain('<line class="median" x1="60%" x2="60%"');
});

test("the row of all chunks comes first, then the documents, those with the longest chunks first", () => {
  const page = render(even, { Short: { ...even, median: 210 }, Long: { ...even, median: 390 } });
  expect(namesOf(page)).toEqual(["All chunks", "Long", "Short"]);
  expect(textOf(page)).toContain("the medians of the documents lie between 210 and 390");
  expect(textOf(page)).toMatch(/Half of the [\d,]+ chunks have at most 300 characters\./);
  const one = { ...even, chunks: 1, median: 1 };
  expect(textOf(render(one, { Only: one }))).toContain("The one chunk has 1 character.");
});

test("one very long chunk does not press the others together: the scale goes by powers of ten, from 0", () => {
  const page = render({ ...even, shortest: 0, longest: 1_000_000 });
  const [box] = marksOf(rowsOf(page)[0] ?? "");
  expect(box?.width).toBeGreaterThan(4);
  expect(page).toContain('x1="0%" x2="100%"');
  expect(textOf(page)).toContain("ten times the one before");
  expect(textOf(page)).toContain("1M");
  expect(textOf(render(even))).not.toContain("ten times");
});

test("the lead names very short and very long chunks with their documents, or says that nothing is unusual", () => {
  const odd = { ...even, shortest: 3, longest: 6000 };
  const text = textOf(render(odd, { Usual: even, Odd: odd }));
  expect(text).toContain("The shortest has 3 (in Odd)");
  expect(text).toContain("The longest has 6,000 (in Odd), 20 times as many as the median");
  expect(textOf(render(even))).toContain("nothing unusual");
});

test("a picture has thirty documents at the most, and says which", () => {
  const many = Object.fromEntries(Array.from({ length: 35 }, (_, at) => [`Document ${at}`, even]));
  const page = render(even, many, 700);
  expect(rowsOf(page)).toHaveLength(31);
  expect(textOf(page)).toContain("The picture shows 30 of 700: those with the most chunks.");
});

test("a dump without chunks has no picture", () => {
  expect(render(undefined)).not.toContain("<svg");
  expect(textOf(render(undefined))).toContain("The dump holds no chunk");
});

test("chunks of no character are sound", () => {
  const zero = { ...even, shortest: 0, quartile_1: 0, median: 0, quartile_3: 0, longest: 0 };
  expect(marksOf(rowsOf(render(zero))[0] ?? "")).toEqual([{ x: 0, width: 0, y: 5, height: 10, fill: "box" }]);
});
