import { foreignText, type Html, type HtmlValue, html, isBlank } from "./html.js";

/** A rectangle of a row: where it begins and ends, as percentages of the width. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  /** A colour of the style, such as `mark-3` or `bad`. */
  readonly mark: string;
  /** From the top, of `rowHeight`; default: a bar in the middle. */
  readonly top?: number;
  readonly height?: number;
  /** The words beside the pointer. */
  readonly title?: string;
}

export interface ChartRow {
  readonly name: HtmlValue;
  readonly pieces: readonly Piece[];
  /** The figure that the row is about, as text. */
  readonly value: HtmlValue;
}

interface Chart {
  /** The beginning of every id in the chart. */
  readonly id: string;
  /** The finding, not the drawing, in a sentence: this is the text alternative. */
  readonly finding: HtmlValue;
  /** How to read it, where the labels do not say it. */
  readonly hint?: HtmlValue;
  readonly keys?: readonly { readonly mark: string; readonly text: string }[];
  /** Labels of the scale, by their places in percent. */
  readonly ticks: readonly { readonly place: number; readonly label: string }[];
}

/** Rows that a chart shows at the most. The table beside it has more. */
export const mostChartRows = 12;

export const rowHeight = 24;
const bar = { top: 6, height: 12 };

/** Bars or strips on one scale, with the name of each before it and its figure behind it. The finding names the drawing as one image. */
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

/** A label stays inside the drawing at its edges. */
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

/** A number with two decimals at the most; 0 for what is no number. */
function hundredths(value: number): number {
  return Math.round(value * 100) / 100 || 0;
}

/** Pieces one behind the other, each as long as its count on a scale that ends at `end`; those of 0 are left out. */
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

/** A strip of cells of the same width, each filled from below by its share from 0 to 1; null leaves it blank. */
export function strip(shares: readonly (number | null)[], mark: string): readonly Piece[] {
  const width = 100 / shares.length;
  const most = rowHeight - 4;
  return shares.flatMap((share, at) => {
    if (share === null || share <= 0) return [];
    const height = Math.max(1, most * Math.min(1, share));
    return [{ from: at * width, to: (at + 0.92) * width, mark, top: rowHeight - 2 - height, height }];
  });
}

/** The name of a document on one line, or the beginning of its id. */
export function rowName({ document_name, document_id }: Readonly<Record<string, unknown>>): Html {
  const name = foreignText(String(document_name ?? ""), 80);
  return isBlank(name) ? html`<code>${foreignText(String(document_id), 8)}</code>` : html`<bdi>${name}</bdi>`;
}

/** ` The chart shows 12 of 41: …`, where it leaves some out. */
export function shownText(shown: number, total: number, order: string): string {
  return shown < total ? ` The chart shows ${shown} of ${total.toLocaleString("en-US")}: ${order}.` : "";
}
