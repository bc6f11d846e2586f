import { greatest, least } from "d3-array";
import { countText } from "../../../amounts.js";
import type { DocumentLengths, LengthFacts, Lengths } from "../../state-facts.js";
import { documentCell, documentName, numberText } from "../cells.js";
import { type HtmlValue, html } from "../html.js";
import { renderLengthBoxes } from "../pictures/length-boxes.js";
import type { Section } from "../section.js";
import { renderTable, type TableColumn, tableBytes } from "../table.js";

/** How long the chunks of every document are. */
export function lengthsSection(facts: LengthFacts): Section {
  const { all, documents } = facts;
  return {
    id: "lengths",
    title: "Lengths of chunks",
    lead: all ? leadOf(all, documents.rows) : "The dump holds no chunk, so that there is no length to show.",
    body: all && [
      renderLengthBoxes({ all, documents }),
      renderTable(columns, documents, { caption: "Lengths of chunks per document, in characters", bytes: tableBytes }),
    ],
  };
}

/** Chunks of fewer characters hardly answer a question. */
const veryShort = 20;

/** Chunks that are so many times as long as the median are long ones. */
const longTimes = 5;

function leadOf(all: Lengths, rows: readonly DocumentLengths[]): HtmlValue {
  const { shortest, median, longest, chunks } = all;
  const which = chunks === 1 ? "The one chunk has" : `Half of the ${countText(chunks, "chunk")} have at most`;
  const typical = `${which} ${median === 1 ? "1 character" : `${numberText(median)} characters`}.`;
  const short = least(rows, (row) => row.shortest);
  const long = greatest(rows, (row) => row.longest);
  const isLong = longest > longTimes * Math.max(median, 1);
  const isShort = shortest < veryShort;
  const usual =
    !isLong &&
    !isShort &&
    ` The shortest has ${numberText(shortest)}, the longest ${numberText(longest)}: nothing unusual.`;
  const shortText =
    isShort &&
    html` The shortest has ${numberText(shortest)}${placeOf(short?.shortest === shortest && short)}: so few characters hardly answer a question.`;
  const longText =
    isLong &&
    html` The longest has ${numberText(longest)}${placeOf(long?.longest === longest && long)}, ${timesText(longest, median)} times as many as the median: so long a chunk mixes topics, and its end may not be found.`;
  return [typical, usual, shortText, longText];
}

function placeOf(document: DocumentLengths | false | undefined): HtmlValue {
  return document && html` (in ${documentName(document)})`;
}

function timesText(longest: number, median: number): string {
  return Math.round(longest / Math.max(median, 1)).toLocaleString("en-US");
}

const figures: readonly (readonly [title: string, figure: (row: DocumentLengths) => number])[] = [
  ["Chunks", ({ chunks }) => chunks],
  ["Shortest", ({ shortest }) => shortest],
  ["Lower quartile", ({ quartile_1 }) => quartile_1],
  ["Median", ({ median }) => median],
  ["Upper quartile", ({ quartile_3 }) => quartile_3],
  ["Longest", ({ longest }) => longest],
  ["Characters", ({ characters }) => characters],
  ["Tokens", ({ tokens }) => tokens],
];

const columns: readonly TableColumn<DocumentLengths>[] = [
  { title: "Document", cell: documentCell },
  ...figures.map(([title, figure]) => ({
    title,
    cell: (row: DocumentLengths) => numberText(Math.round(figure(row))),
    sort: figure,
    isNumber: true,
  })),
];
