import type { NamedDocument } from "../../named-document.js";
import { foreignText, isBlank } from "../foreign.js";
import { type Html, type HtmlValue, html } from "../html.js";
import { renderDrawing, renderLabel, renderUpright } from "./svg.js";

/** Rows that a picture shows at the most. The table beside it has more. */
export const mostPictureRows = 30;

/** Characters of a name beside a drawing; the style cuts it to the room that there is. */
const longestName = 80;

export interface PictureRow {
  readonly name: HtmlValue;
  /** SVG marks, with places in percent of the width. */
  readonly marks: HtmlValue;
  /** The figure that the row is about, as text. */
  readonly value: HtmlValue;
}

/** A mark of a scale: its place in percent of the width, and its label. */
export interface Tick {
  readonly place: number;
  readonly label: string;
}

const axisHeight = 18;

/** Rows of one scale, with the scale above them: the name, the drawing and the figure of each. */
export function renderRows(rows: readonly PictureRow[], ticks: readonly Tick[], height: number): Html {
  const grid = ticks.map(({ place }) => renderUpright(place, height));
  const axis = ticks.map(({ place, label }) => renderLabel(place, axisHeight - 5, label));
  return html`<div class="row axis">${renderDrawing(axisHeight, axis)}</div>
${rows.map(
  ({ name, marks, value }) =>
    html`<div class="row"><span class="name">${name}</span>${renderDrawing(height, [grid, marks])}<span class="value">${value}</span></div>\n`,
)}`;
}

/** The name of a document in one line, or the beginning of its id where nobody listed a name. */
export function shortName({ document_name, document_id }: NamedDocument): Html {
  const name = foreignText(document_name ?? "", longestName);
  return isBlank(name) ? html`<code>${foreignText(document_id, 8)}</code>` : html`<bdi>${name}</bdi>`;
}

/** ` The picture shows 30 of 41: …`, where it leaves some out; else nothing. */
export function shownText(shown: number, total: number, order: string): string {
  return shown < total ? ` The picture shows ${shown} of ${total.toLocaleString("en-US")}: ${order}.` : "";
}
