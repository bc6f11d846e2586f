import type { Cut } from "../cut.js";
import { numberText } from "./cells.js";
import { renderFitting, renderRest } from "./fitting.js";
import { type Html, type HtmlValue, html } from "./html.js";

/** A column of a table. */
export interface TableColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => HtmlValue;
  /** The value that the script sorts by; undefined: the text of the cell. Null stands last. */
  readonly sort?: (row: Row) => number | null;
  /** Numbers are aligned to the end. */
  readonly isNumber?: boolean;
  /** Whole sentences get a wide column. */
  readonly isLong?: boolean;
}

export interface TableOptions {
  /** The name of the table, which no other one of the page has. */
  readonly caption: string;
  /** The bytes that its rows may take; rows that do not fit are left out. */
  readonly bytes: number;
}

/** Bytes that the rows of a table may take, so that the page stays below 2 MB whatever the dump. */
export const tableBytes = 60_000;

/** A column of numbers, by which the script sorts. */
export function numberColumn<Row>(title: string, figure: (row: Row) => number | null): TableColumn<Row> {
  return { title, cell: (row) => numberText(figure(row)), sort: figure, isNumber: true };
}

/**
 * A table of the first rows, as many as fit, with the command that prints the rest. The first column names the row. A narrow screen
 * scrolls the table inside its box, which takes the focus, so that a keyboard scrolls it, too.
 */
export function renderTable<Row>(
  columns: readonly TableColumn<Row>[],
  { rows, total, query }: Cut<Row>,
  { caption, bytes }: TableOptions,
): Html {
  if (rows.length === 0 && total === 0) return html`<p class="nothing">${caption}: none.</p>`;
  const shown = renderFitting(rows, (row) => renderRow(columns, row), bytes);
  return html`<div class="table"><div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col"${classOf(column)}>${column.title}</th>`)}</tr></thead>
<tbody>
${shown}</tbody>
</table></div>
${renderRest(total - shown.length, query)}</div>`;
}

function renderRow<Row>(columns: readonly TableColumn<Row>[], row: Row): Html {
  return html`<tr>${columns.map((column, at) => renderCell(column, row, at === 0))}</tr>\n`;
}

function renderCell<Row>(column: TableColumn<Row>, row: Row, isFirst: boolean): Html {
  const key = column.sort && html` data-sort="${column.sort(row)}"`;
  if (isFirst) return html`<th scope="row"${classOf(column)}${key}>${column.cell(row)}</th>`;
  return html`<td${classOf(column)}${key}>${column.cell(row)}</td>`;
}

function classOf({ isNumber, isLong }: { readonly isNumber?: boolean; readonly isLong?: boolean }): HtmlValue {
  if (isNumber) return html` class="number"`;
  return isLong && html` class="long"`;
}
