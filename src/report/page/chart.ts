import { foreignText, type Html, type HtmlValue, html, isBlank } from "./html.js";

/** A rectangle in a row. Its start and end are percentages of the width. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  /** A colour of the style, such as `mark-3` or `bad`. */
  readonly mark: string;
  /** The distance from the top, out of `rowHeight`; default: a bar in the middle. */
  readonly top?: number;
  readonly height?: number;
  /** The tooltip. */
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
  /** Labels of the scale, at positions in percent. */
  readonly ticks: readonly { readonly place: number; readonly label: string }[];
}

/** Maximum rows of a chart. Its table has more. */
export const mostChartRows = 12;

export const rowHeight = 24;
const bar = { top: 6, height: 12 };

/** Renders bars or strips on one scale, each with its name and figure. To a screen reader, it is one image named by the finding. */
export function renderChart({ id, finding, hint, keys = [], ticks }: Chart, rows: readonly ChartRow[]): Html {
  return html`<figure class="chart">
<figcaption><p id="${id}-finding">${finding}</p>
${hint && html`<p class="hint">${hint}</p>`}${keys.length > 0 && html`<p class="hint">${keys.map(renderKey)}</p>`}</figcaption>
<div role="img" aria-labelledby="${id}-finding">
<div class="row axis">${renderDrawing(18, ticks.map(renderLabel))}</div>
${rows.map(
  ({ name, pieces, value }) =>
    html`<div class="row"><span class="name">${name}</span>${renderDrawing(rowHeight, [ticks.map(renderGrid), pieces.map(renderPiece)])}<span class="value">${value}</span></div>\n`,
)}</div>
</figure>`;
}

function renderDrawing(height: number, marks: HtmlValue): Html {
  return html`<svg width="100%" height="${height}" aria-hidden="true">${marks}</svg>`;
}

function renderPiece({ from, to, mark, top = bar.top, height = bar.height, title }: Piece): Html {
  const width = Math.max(0, Math.min(100, to) - Math.max(0, from));
  return html`<rect x="${percent(from)}" y="${hundredths(top)}" width="${percent(width)}" height="${hundredths(height)}" fill="var(--${mark})">${title && html`<title>${title}</title>`}</rect>`;
}

function renderGrid({ place }: Chart["ticks"][number]): Html {
  return html`<line class="grid" x1="${percent(place)}" x2="${percent(place)}" y1="0" y2="${rowHeight}"/>`;
}

/** Renders a label of the scale. Near an edge, it is aligned so that it stays inside the drawing. */
function renderLabel({ place, label }: Chart["ticks"][number]): Html {
  const anchor = place < 8 ? "start" : place > 92 ? "end" : "middle";
  return html`<text x="${percent(place)}" y="13" text-anchor="${anchor}">${label}</text>`;
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

/** Pieces side by side, as long as their counts on a scale from 0 to `end`. Leaves out counts of 0. */
export function stacked(
  parts: readonly { readonly count: number; readonly mark: string; readonly text: string }[],
  end: number,
): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { count, mark, text } of parts) {
    if (count <= 0) continue;
    const to = from + (100 * count) / end;
    pieces.push({ from, to, mark, title: text });
    from = to;
  }
  return pieces;
}

/** A strip of cells of equal width, each filled from the bottom by a share from 0 to 1; null: blank. */
export function strip(shares: readonly (number | null)[], mark: string): readonly Piece[] {
  const width = 100 / shares.length;
  const most = rowHeight - 4;
  return shares.flatMap((share, at) => {
    if (share === null || share <= 0) return [];
    const height = Math.max(1, most * Math.min(1, share));
    return [{ from: at * width, to: (at + 0.92) * width, mark, top: rowHeight - 2 - height, height }];
  });
}

/** The name of a document on one line, or the first characters of its id. */
export function rowName({ document_name, document_id }: Readonly<Record<string, unknown>>): Html {
  const name = foreignText(String(document_name ?? ""), 80);
  return isBlank(name) ? html`<code>${foreignText(String(document_id), 8)}</code>` : html`<bdi>${name}</bdi>`;
}

/** ` The chart shows 12 of 41: …`; empty if it shows all. */
export function shownText(shown: number, total: number, order: string): string {
  return shown < total ? ` The chart shows ${shown} of ${total.toLocaleString("en-US")}: ${order}.` : "";
}
