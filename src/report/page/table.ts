import type { Cut } from "../lost-facts.js";
import type { NamedDocument } from "../named-document.js";
import { foreign, foreignText, type Html, type HtmlValue, html, isBlank, none } from "./html.js";

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

interface TableOptions {
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

/** The name of a document, its dataset beneath, and its id, of which the style shows the beginning. */
export function documentCell({ document_name, document_id, dataset_name, dataset_id }: NamedDocument): Html {
  const id = idText(document_id);
  const dataset = foreignOr(idText(dataset_id), dataset_name, 60);
  if (document_name === null || isBlank(document_name))
    return html`<div class="document">${id}<small>${dataset}</small></div>`;
  return html`<div class="document">${foreign(document_name, 120)}<small>${dataset} ${id}</small></div>`;
}

/** The name of a document in a sentence, or its id where no name was listed. */
export function documentName({ document_name, document_id }: NamedDocument): HtmlValue {
  return foreignOr(idText(document_id), document_name, 60);
}

/** A name, or what stands in for it where there is none. */
function foreignOr(other: HtmlValue, name: string | null, longest: number): HtmlValue {
  return name === null || isBlank(name) ? other : foreign(name, longest);
}

/** A whole id, of which the style shows the beginning: searching and copying finds all of it. */
export function idText(id: string): HtmlValue {
  if (isBlank(id)) return foreign(id);
  const text = foreignText(id, 80);
  return html`<code class="id" dir="auto" title="${text}">${text}</code>`;
}

/** `2026-11-20 02:00`, in UTC; a dash for null and for what is no time. */
export function timeText(milliseconds: number | null): HtmlValue {
  if (milliseconds === null || !(Math.abs(milliseconds) <= latest)) return none;
  const iso = new Date(milliseconds).toISOString();
  return html`<time datetime="${iso}">${iso.replace("T", " ").replace(/:\d\d\.\d+Z$/, "")}</time>`;
}

/** The same with seconds: runs may follow each other within a minute. */
export function secondText(milliseconds: number): HtmlValue {
  if (!(Math.abs(milliseconds) <= latest)) return none;
  const iso = new Date(milliseconds).toISOString();
  return html`<time datetime="${iso}">${iso.replace("T", " ").replace(/\.\d+Z$/, "")}</time>`;
}

/** The last moment that a Date can be, in milliseconds. */
const latest = 8.64e15;

/** `5,012`; a dash for null. */
export function numberText(number: number | null): HtmlValue {
  return number === null ? none : number.toLocaleString("en-US");
}

/** `31 %`, rounded so that 0 and 100 stand for none and all alone. */
export function shareText(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return "0 %";
  const percent = (100 * part) / whole;
  if (percent < 1) return "<1 %";
  if (percent > 99 && part < whole) return ">99 %";
  return `${Math.round(percent)} %`;
}

/** How something stands. The style gives each tone a colour and a shape; the word says it without them. */
export type Tone = "good" | "warn" | "bad" | "quiet";

/** A state in a word, such as `complete`, with the shape of its tone. */
export function stateText(tone: Tone, word: HtmlValue): Html {
  return html`<span class="state ${tone}">${word}</span>`;
}

/** A command to copy. */
export function commandBlock(command: string): Html {
  return html`<div class="command"><pre><code>${command}</code></pre></div>`;
}

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
