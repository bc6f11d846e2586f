import { ageText, bytesText, countText, durationText, numberText } from "../../amounts.js";
import type { SqlRow } from "../../duckdb/read-rows.js";
import { foreign, type Html, type HtmlValue, html, idText, isBlank, stateText, type Tone, timeText } from "./html.js";

/** The first rows of a table. Every row has the columns that the cells read. */
export interface Table {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly SqlRow[];
  /** The number of all rows, including rows that are not shown. */
  readonly total: number;
  /** The command that prints all rows; null if there is none. */
  readonly query: string | null;
}

export interface Column {
  readonly title: string;
  readonly cell: (row: SqlRow) => HtmlValue;
  /** The number to sort by, if sorting by the text would be wrong. */
  readonly sort?: (row: SqlRow) => number | null;
  readonly isNumber?: boolean;
  /** Whether the column needs a lot of space. */
  readonly isLong?: boolean;
}

/** Converts a number from DuckDB, which returns large numbers as text. Null, such as the sum of no rows, becomes 0. */
export function numberOf(value: unknown): number {
  return Number(value ?? 0);
}

/** Makes columns that are sorted by their number; null is a dash. */
function sortable(render: (value: number) => HtmlValue, isNumber = true) {
  return (title: string, name: string): Column => {
    const sort = (row: SqlRow) => (row[name] === null ? null : numberOf(row[name]));
    const cell = (row: SqlRow) => (row[name] === null ? foreign(null) : render(numberOf(row[name])));
    return { title, cell, sort, isNumber };
  };
}

/** The kinds of columns that tables share. `name`: the column of the SQL row. */
export const column = {
  document: { title: "Document", cell: documentCell } satisfies Column,
  dataset: { title: "Dataset", cell: datasetName } satisfies Column,
  number: sortable((value) => numberText(Math.round(value))),
  time: sortable(timeText, false),
  duration: sortable(durationText),
  age: sortable(ageText),
  bytes: sortable(bytesText),
  /** Columns of numbers: the titles, each with the column of the SQL row. */
  numbers: (titles: Readonly<Record<string, string>>): readonly Column[] =>
    Object.entries(titles).map(([title, name]) => column.number(title, name)),
  text: (title: string, name: string, longest = 200): Column => ({
    title,
    cell: (row) => foreign(row[name], longest),
    isLong: longest > 100,
  }),
  id: (title: string, name: string): Column => ({ title, cell: (row) => idText(row[name]) }),
  code: (title: string, name: string): Column => ({ title, cell: (row) => html`<code>${String(row[name])}</code>` }),
  state: (title: string, name: string, tones: Readonly<Record<string, Tone>> = stateTones): Column => ({
    title,
    cell: ({ [name]: state }) =>
      state === null ? foreign(null) : stateText(tones[String(state)] ?? "warn", foreign(state, 40)),
  }),
};

const stateTones: Readonly<Record<string, Tone>> = {
  ...{ completed: "good", available: "good", complete: "good", fresh: "good" },
  ...{ error: "bad", failed: "bad", "never read": "bad", "not in this run": "quiet" },
};

/** Maximum bytes for the rows of a table, to keep the whole page below 2 MB. */
const tableBytes = 80_000;

/** Renders a table with a caption, and says how to get the rows that do not fit. The script folds it on screen only. */
export function renderTable({ caption, columns, rows, total, query }: Table): Html {
  const shown = renderFirst(rows, (row) => renderRow(columns, row), tableBytes);
  return html`<div class="table">
<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
<table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ title, isNumber }) => html`<th scope="col"${isNumber && html` class="number"`}>${title}</th>`)}</tr></thead>
<tbody>
${shown}</tbody>
</table></div>
${shown.length === 0 && html`<p class="note">No row.</p>`}${renderRest(total - shown.length, query)}
</div>`;
}

/** Renders a table below advice on its rows; nothing without rows. */
export function renderFound(table: Table, advice?: string): HtmlValue {
  return table.total > 0 && [advice && html`<p>${advice}</p>`, renderTable(table)];
}

function renderRow(columns: readonly Column[], row: SqlRow): Html {
  return html`<tr>${columns.map((each, at) => renderCell(each, row, at === 0))}</tr>\n`;
}

function renderCell({ title, cell, sort, isNumber, isLong }: Column, row: SqlRow, isHeader: boolean): Html {
  const name = isNumber ? "number" : isLong && "long";
  const marks = html`${sort && html` data-sort="${sort(row)}"`}${name && html` class="${name}"`}`;
  if (isHeader) return html`<th scope="row"${marks}>${cell(row)}</th>`;
  return html`<td data-title="${title}"${marks}>${cell(row)}</td>`;
}

/** Renders the first rows, as many as fit into `bytes`. */
export function renderFirst<Row>(rows: readonly Row[], render: (row: Row) => Html, bytes: number): readonly Html[] {
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

/** Says how many rows are not shown, and which command prints all of them; empty if all are shown. */
export function renderRest(left: number, query: string | null): HtmlValue {
  if (left <= 0) return "";
  const rows = `${numberText(left)} more ${left === 1 ? "row is" : "rows are"} not shown.`;
  if (query === null) return html`<p class="note">${rows}</p>`;
  return html`<p class="note">${rows} This command prints all of them:</p>${commandBlock(query)}`;
}

/** How many sentences a list shows at most. */
const mostNotes = 20;

/** Renders the first sentences as a list and counts the rest. Without sentences, renders only the count. */
export function renderNotes(notes: readonly string[], count: number, noun: string): Html {
  const shown = notes.slice(0, mostNotes);
  if (shown.length === 0) return html`<p>${countText(count, noun)}, not shown in a report without content.</p>`;
  const left = count - shown.length;
  return html`<ul>
${shown.map((note) => html`<li>${foreign(note, 400)}</li>\n`)}</ul>
${left > 0 && html`<p class="note">${countText(left, `more ${noun}`)} not shown.</p>`}`;
}

/** Renders a command with a button to copy it. */
export function commandBlock(command: string): Html {
  return html`<div class="command"><pre><code>${command}</code></pre></div>`;
}

/** Renders the name, dataset and id of a document; only the id if the service listed no name. */
function documentCell(row: SqlRow): HtmlValue {
  const id = idText(row.document_id);
  const dataset = datasetName(row);
  const name = documentName(row, 120, null);
  if (name === null) return html`<div class="document">${id}<small>${dataset}</small></div>`;
  return html`<div class="document">${name}<small>${dataset} ${id}</small></div>`;
}

function datasetName({ dataset_name, dataset_id }: SqlRow): HtmlValue {
  return documentName({ document_name: dataset_name, document_id: dataset_id });
}

/** The name of a document in a sentence; without a known name, its id. */
export function documentName(
  { document_name, document_id }: SqlRow,
  longest = 60,
  other: HtmlValue = idText(document_id),
): HtmlValue {
  return isBlank(document_name) ? other : foreign(document_name, longest);
}
