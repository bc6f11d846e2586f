import { countText } from "../amounts.js";
import type { QueryColumn, QueryRow } from "../query/run-query.js";
import { ExactNumber, jsonText } from "../rows/exact-json.js";
import { cutText, escapeControls } from "../safe-text.js";
import { alignedLines } from "./aligned-lines.js";
import { cutToWidth, padEnd, widthOf } from "./display-width.js";
import type { Paint } from "./text.js";

export interface TableView {
  readonly paint: Paint;
  /** Characters that fit a line; undefined where nobody looks at a terminal. */
  readonly columns: number | undefined;
}

export interface TableRows {
  readonly columns: readonly QueryColumn[];
  readonly rows: readonly QueryRow[];
  readonly isCut: boolean;
}

/** Characters of a cell that are shown where there is no terminal to fit. */
const longest = 10_000;
/** Characters of a column that are always shown. */
const narrowest = 8;
const gap = 2;

/** A result for people: a table, or a line for each cell where the terminal is too narrow for one; below it the number of rows. */
export function renderQuery({ columns, rows, isCut }: TableRows, { paint, columns: width }: TableView): string {
  const cells = rows.map((row) => row.map(cellText));
  const heads = columns.map(({ name }) => cutText(escapeControls(name), longest));
  const wanted = heads.map((head, at) => ({
    width: cells.reduce((most, row) => Math.max(most, widthOf(row[at] ?? "")), widthOf(head)),
    isNumber: isNumeric(columns[at]?.type ?? ""),
  }));
  const room = width === undefined ? wanted.map((column) => column.width) : fittedWidths(wanted, width);
  const count = `${countText(rows.length, "row")}${isCut ? "; there are more, see --limit" : ""}`;
  const lines =
    room || width === undefined
      ? tableLines(wanted, heads, cells, room ?? [], paint)
      : recordLines(heads, cells, width, paint);
  return [...lines, "", paint.faint(count)].join("\n");
}

/** A column, with the characters that its longest cell has. */
interface WantedColumn {
  readonly width: number;
  readonly isNumber: boolean;
}

function tableLines(
  wanted: readonly WantedColumn[],
  heads: readonly string[],
  cells: readonly (readonly string[])[],
  room: readonly number[],
  paint: Paint,
): readonly string[] {
  // A row of one cell would be taken for a remark.
  const lined = (row: readonly string[]) => [...row.map((cell, at) => cutToWidth(cell, room[at] ?? longest)), ""];
  const right = wanted.flatMap(({ isNumber }, at) => (isNumber ? at : []));
  const [head = "", ...lines] = alignedLines([lined(heads), ...cells.map(lined)], right, gap);
  return [paint.strong(head), ...lines];
}

/** A line for each cell, as `name  value`, and a line between two rows. */
function recordLines(
  heads: readonly string[],
  cells: readonly (readonly string[])[],
  width: number,
  paint: Paint,
): readonly string[] {
  const name = Math.min(Math.max(...heads.map(widthOf)), Math.floor(width / 2));
  return cells.flatMap((row, nr) => [
    paint.strong(cutToWidth(`row ${nr + 1}`, width)),
    ...row.map((cell, at) =>
      `${padEnd(cutToWidth(heads[at] ?? "", name), name)}${" ".repeat(gap)}${cutToWidth(cell, width - name - gap)}`.trimEnd(),
    ),
  ]);
}

/**
 * The widths of columns that fit a line of so many characters: the widest texts give way first, numbers never. Undefined where
 * they do not fit.
 */
export function fittedWidths(wanted: readonly WantedColumn[], line: number): readonly number[] | undefined {
  const room = line - gap * (wanted.length - 1);
  const capped = (cap: number) => wanted.map(({ width, isNumber }) => (isNumber ? width : Math.min(width, cap)));
  const fits = (cap: number) => capped(cap).reduce((sum, width) => sum + width, 0) <= room;
  let cap = Math.max(narrowest, ...wanted.map(({ width }) => width));
  while (cap > narrowest && !fits(cap)) cap--;
  return fits(cap) ? capped(cap) : undefined;
}

/** A cell on one line: NULL can be seen, and control characters are written as JSON has them. */
function cellText(value: unknown): string {
  const text = value === null ? "NULL" : plainText(value);
  return cutText(escapeControls(text).replaceAll("\\u000a", "\\n").replaceAll("\\u0009", "\\t"), longest);
}

/** A text as it is; all else as JSON. */
export function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  return value instanceof ExactNumber ? value.text : jsonText(value);
}

function isNumeric(type: string): boolean {
  return /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(.*\)|FLOAT|DOUBLE|BIGNUM)$/.test(type);
}
