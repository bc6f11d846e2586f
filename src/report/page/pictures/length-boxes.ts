import type { DocumentLengths, LengthFacts, Lengths } from "../../state-facts.js";
import { type Html, html } from "../html.js";
import { renderFigure } from "./figure.js";
import { type LengthScale, lengthScale } from "./lengths-scale.js";
import { mostPictureRows, type PictureRow, renderRows, shortName, shownText } from "./rows.js";
import { percent, renderPiece, renderUpright } from "./svg.js";

const height = 20;

/** Shortest, longest, median and quartiles of the chunks of each document on one scale, below those of all chunks. */
export function renderLengthBoxes({ all, documents }: LengthFacts & { readonly all: Lengths }): Html {
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
