import { commandBlock } from "./cells.js";
import { type Html, type HtmlValue, html } from "./html.js";

/** Renders as many of the first rows as take no more bytes than these. */
export function renderFitting<Row>(rows: readonly Row[], render: (row: Row) => Html, bytes: number): readonly Html[] {
  const shown: Html[] = [];
  let left = bytes;
  for (const row of rows) {
    const rendered = render(row);
    left -= Buffer.byteLength(rendered.toString());
    if (left < 0) break;
    shown.push(rendered);
  }
  return shown;
}

/** How many rows are not shown, with the command that prints all of them; nothing where all are shown. */
export function renderRest(left: number, query: string | null): HtmlValue {
  if (left <= 0) return "";
  const rows = `${left.toLocaleString("en-US")} more ${left === 1 ? "row is" : "rows are"} not shown.`;
  if (query === null) return html`<p class="rest">${rows}</p>`;
  return html`<p class="rest">${rows} This command prints all of them:</p>${commandBlock(query)}`;
}
