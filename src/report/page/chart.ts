import { numberText } from "../../amounts.js";
import { type Html, type HtmlValue, html } from "./html.js";

/** A rectangle in a row. Its start and end are percentages of the width. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  /** A colour of the style, such as `mark-3` or `bad`. */
  readonly mark: string;
  /** The distance from the top, out of `rowHeight`; default: a bar in the middle. */
  readonly top?: number;
  readonly height?: number;
  /** The text that a mouse shows. */
  readonly title?: string;
}

export interface ChartRow {
  readonly name: HtmlValue;
  readonly pieces: readonly Piece[];
  /** The figure that the row shows, as text. */
  readonly value: HtmlValue;
}

interface Chart {
  /** The prefix of every element id in the chart. */
  readonly id: string;
  /** The text alternative: a sentence that states the finding, not what the drawing looks like. */
  readonly finding: HtmlValue;
  /** How to read the chart, if the labels do not make it clear. */
  readonly hint?: HtmlValue;
  readonly keys?: readonly { readonly mark: string; readonly text: string }[];
  /** Labels of the scale, by their positions in percent. */
  readonly ticks: Readonly<Record<number, string>>;
}

/** Maximum rows of a chart. Its table has more. */
export const mostChartRows = 12;

export const rowHeight = 24;

/** Renders bars or strips on one scale, each with its name and figure. To a screen reader, it is one image named by the finding. */
export function renderChart({ id, finding, hint, keys = [], ticks }: Chart, rows: readonly ChartRow[]): Html {
  const labels = Object.entries(ticks).map(([place, label]) => renderLabel(Number(place), label));
  const grid = Object.keys(ticks).map((place) => renderLine(Number(place)));
  return html`<figure>
<figcaption><p id="${id}-finding">${finding}</p>
${hint && html`<p class="note hint">${hint}</p>`}${keys.length > 0 && html`<p class="note hint">${keys.map(renderKey)}</p>`}</figcaption>
<div role="img" aria-labelledby="${id}-finding">
<div class="row"><span></span>${renderDrawing(18, labels)}</div>
${rows.map(
  ({ name, pieces, value }) =>
    html`<div class="row"><span class="name">${name}</span>${renderDrawing(rowHeight, [grid, pieces.map(renderPiece)])}<span class="note value">${value}</span></div>\n`,
)}</div>
</figure>`;
}

function renderDrawing(height: number, marks: HtmlValue): Html {
  return html`<svg width="100%" height="${height}" aria-hidden="true">${marks}</svg>`;
}

function renderPiece({ from, to, mark, top = 6, height = 12, title }: Piece): Html {
  const width = Math.max(0, Math.min(100, to) - Math.max(0, from));
  return html`<rect x="${percent(from)}" y="${hundredths(top)}" width="${percent(width)}" height="${hundredths(height)}" fill="var(--${mark})">${title && html`<title>${title}</title>`}</rect>`;
}

function renderLine(place: number): Html {
  return html`<line stroke="var(--line)" x1="${percent(place)}" x2="${percent(place)}" y1="0" y2="${rowHeight}"/>`;
}

/** Renders a label of the scale. Near an edge, it is aligned so that it stays inside the drawing. */
function renderLabel(place: number, label: string): Html {
  const anchor = place < 8 ? "start" : place > 92 ? "end" : "middle";
  return html`<text x="${percent(place)}" y="13" font-size="12" fill="var(--quiet)" text-anchor="${anchor}">${label}</text>`;
}

function renderKey({ mark, text }: NonNullable<Chart["keys"]>[number]): Html {
  const swatch = renderPiece({ from: 0, to: 100, top: 1, height: 10, mark });
  return html`<span class="key"><svg width="14" height="12" aria-hidden="true">${swatch}</svg> ${text}</span> `;
}

function percent(value: number): string {
  return `${hundredths(Math.min(100, Math.max(0, value)))}%`;
}

/** Rounds to at most two decimals; NaN becomes 0. */
function hundredths(value: number): number {
  return Math.round(value * 100) / 100 || 0;
}

/** Bars side by side, with lengths in proportion to their counts on a scale from 0 to `end`. Leaves out counts of 0. */
export function stacked(
  parts: readonly { readonly count: number; readonly mark: string; readonly text: string }[],
  end: number,
): readonly Piece[] {
  let to = 0;
  return parts
    .filter(({ count }) => count > 0)
    .map(({ count, mark, text }) => {
      const from = to;
      to += (100 * count) / end;
      return { from, to, mark, title: text };
    });
}

/** ` The chart shows 12 of 41: …`; empty if it shows all. */
export function shownText(shown: number, total: number, order: string): string {
  return shown < total ? ` The chart shows ${shown} of ${numberText(total)}: ${order}.` : "";
}
