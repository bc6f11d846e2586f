import { greatest, least } from "d3-array";
import { scaleLinear, scaleSymlog } from "d3-scale";
import { countText } from "../../../amounts.js";
import type { DocumentLengths, LengthFacts, Lengths } from "../../report-facts.js";
import { type Html, type HtmlValue, html, type Section } from "../html.js";
import {
  countTicks,
  mostPictureRows,
  type PictureRow,
  percent,
  renderFigure,
  renderPiece,
  renderRows,
  renderUpright,
  shortName,
  shownText,
  type Tick,
} from "../pictures.js";
import { documentCell, documentName, numberText, renderTable, type TableColumn, tableBytes } from "../table.js";

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

const height = 20;

/** Shortest, longest, median and quartiles of the chunks of each document on one scale, below those of all chunks. */
function renderLengthBoxes({ all, documents }: LengthFacts & { readonly all: Lengths }): Html {
  const shown = documents.rows.slice(0, mostPictureRows);
  const longest = Math.max(all.longest, ...shown.map((each) => each.longest));
  const scale = lengthScale(longest, all.median);
  const rows: PictureRow[] = [
    { name: html`<strong>All chunks</strong>`, ...boxRow(all, scale) },
    ...byMedian(shown).map((each) => ({ name: shortName(each), ...boxRow(each, scale) })),
  ];
  const scaleText = scale.isLogarithmic ? " From 10 on, each step of the scale is ten times the one before." : "";
  const order = "those with the most chunks";
  return renderFigure(
    {
      id: "length-boxes",
      finding: findingOf(all, shown),
      hint: html`The line goes from the shortest chunk to the longest, the box holds the middle half, the upright stroke and the number are the median, in characters.${scaleText}${shownText(shown.length, documents.total, order)}`,
    },
    renderRows(rows, scale.ticks, height),
  );
}

/** The longest first; the same order for the same facts. */
function byMedian(rows: readonly DocumentLengths[]): readonly DocumentLengths[] {
  return rows.toSorted((a, b) => b.median - a.median);
}

function findingOf(all: Lengths, rows: readonly DocumentLengths[]): string {
  const medians = rows.map(({ median }) => median);
  const half = `Half of all chunks have ${number(all.quartile_1)} to ${number(all.quartile_3)} characters`;
  if (rows.length < 2) return `${half}.`;
  return `${half}; the medians of the documents lie between ${number(Math.min(...medians))} and ${number(Math.max(...medians))}.`;
}

function boxRow(lengths: Lengths, { place }: LengthScale): Omit<PictureRow, "name"> {
  const { shortest, quartile_1, median, quartile_3, longest } = lengths;
  const middle = height / 2;
  const whisker = html`<line class="whisker" x1="${percent(place(shortest))}" x2="${percent(place(longest))}" y1="${middle}" y2="${middle}"/>`;
  const title = `${number(shortest)} to ${number(longest)} characters; the middle half ${number(quartile_1)} to ${number(quartile_3)}`;
  const box = { from: place(quartile_1), to: place(quartile_3), top: 5, height: 10, fill: { mark: "box" }, title };
  const marks = [whisker, renderPiece(box), renderUpright(place(median), height, "median")];
  return { marks, value: number(median) };
}

function number(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** A scale of lengths: where a length stands, in percent of the width, and the labels. */
interface LengthScale {
  readonly place: (characters: number) => number;
  readonly ticks: readonly Tick[];
  readonly isLogarithmic: boolean;
}

/** A longest chunk as many times as long as the median calls for powers of ten. */
const longTimesScale = 8;

/** The scale on which all of these lengths can be told apart. It begins at 0, which powers of ten alone could not show. */
function lengthScale(longest: number, median: number): LengthScale {
  const end = Math.max(longest, 1);
  if (longest <= longTimesScale * Math.max(median, 1)) {
    const scale = scaleLinear([0, end], [0, 100]);
    return { place: (characters) => scale(characters), ticks: countTicks(0, end), isLogarithmic: false };
  }
  const scale = scaleSymlog([0, end], [0, 100]).constant(10);
  const powers = [0, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000].filter((power) => power <= end);
  const ticks = powers.map((power) => ({ place: scale(power), label: powerText(power) }));
  return { place: (characters) => scale(characters), ticks, isLogarithmic: true };
}

/** `1,000`, `10k`, `1M`: short enough for a phone. */
function powerText(power: number): string {
  if (power >= 1_000_000) return `${power / 1_000_000}M`;
  return power >= 10_000 ? `${power / 1000}k` : power.toLocaleString("en-US");
}
