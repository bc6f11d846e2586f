import { type Html, type HtmlValue, html } from "../html.js";

/**
 * A place or width on a drawing, as a percentage of its width: no drawing knows how wide the screen is. Values beyond the drawing stop at
 * its edge; what is no number stands at its beginning.
 */
export function percent(value: number): string {
  return `${hundredths(Math.min(100, Math.max(0, value)))}%`;
}

/** A number with two decimals at the most; 0 for what is no number. */
export function hundredths(value: number): number {
  return Math.round(value * 100) / 100 || 0;
}

/** A piece of a bar, from one place to another, as percentages of the width of the drawing. */
export interface BarPiece {
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly height: number;
  /** The class, or the hatch, that fills it. */
  readonly fill: Fill;
  /** The words that stand beside the pointer. */
  readonly title?: string;
}

/** A class of page.css such as `mark-3`; or the id of a hatch, which another drawing of the same picture may hold. */
export type Fill = { readonly mark: string } | { readonly hatch: string };

/** A piece of a bar. One without a length is drawn as a hairline. */
export function renderPiece({ from, to, top, height, fill, title }: BarPiece): Html {
  const width = Math.min(100, to) - Math.max(0, from);
  const place = html`x="${percent(from)}" y="${hundredths(top)}" width="${percent(width)}" height="${hundredths(height)}"`;
  return html`<rect ${place} ${renderFill(fill)}>${title && html`<title>${title}</title>`}</rect>`;
}

function renderFill(fill: Fill): Html {
  return "mark" in fill ? html`class="${fill.mark}"` : html`class="hatched" fill="url(#${fill.hatch})"`;
}

/** Oblique lines that stand for one state, so that nobody must tell it by its colour. */
export function renderHatch({ id, mark }: { readonly id: string; readonly mark: string }): Html {
  return html`<defs><pattern id="${id}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="${mark}" width="2.5" height="5"/></pattern></defs>`;
}

/** An oblique cut near the end of a bar that is longer than the drawing is wide. */
export function renderBreak(side: "left" | "right", height: number): Html {
  const begin = side === "right" ? -18 : 8;
  const path = `M${begin} ${height + 2}l6 -${height + 4}h5l-6 ${height + 4}z`;
  return html`<svg class="cut" x="${side === "right" ? "100%" : "0%"}" height="${height}" overflow="visible"><path class="break" d="${path}"/></svg>`;
}

/** A line from top to bottom. */
export function renderUpright(place: number, height: number, mark = "grid"): Html {
  return html`<line class="${mark}" x1="${percent(place)}" x2="${percent(place)}" y1="0" y2="${hundredths(height)}"/>`;
}

/** A drawing inside a picture that has words of its own: assistive software passes it by. */
export function renderDrawing(height: number, marks: HtmlValue): Html {
  return html`<svg width="100%" height="${hundredths(height)}" aria-hidden="true">${marks}</svg>`;
}

/** A text at a place, which stays inside the drawing at its edges. */
export function renderLabel(place: number, y: number, text: string): Html {
  const anchor = place < 8 ? "start" : place > 92 ? "end" : "middle";
  return html`<text x="${percent(place)}" y="${hundredths(y)}" text-anchor="${anchor}">${text}</text>`;
}
