import { relative } from "node:path";
import { isBucketUrl } from "../job/s3-url.js";
import { cutToWidth, padEnd, padStart, widthOf, wrapToWidth } from "./display-width.js";
import { type Page, type Paint, plain } from "./text.js";

/** How a column adapts when the terminal is too narrow. Numbers and ids are never truncated. */
export interface TableColumn {
  /** Aligns numbers to the right. */
  readonly right?: boolean;
  /** Truncates names with an ellipsis, to at least this many columns. */
  readonly least?: number;
  /** Moves the first column, with ids, to separate lines. */
  readonly id?: boolean;
  /** Drops the column; the lowest number goes first. */
  readonly drop?: number | undefined;
  /** Whether to wrap this column, which has sentences and must be the last. */
  readonly wraps?: boolean;
}

/** A column with its heading, and the text of a cell. */
export interface Column<Row> extends TableColumn {
  readonly head: string;
  readonly cell: (row: Row) => string;
}

/** Renders a heading and rows. `paintOf`: the colour of a row. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { paint, columns: width }: Page,
  paintOf: (row: Row) => keyof Paint | undefined = () => undefined,
): readonly string[] {
  const [head = [], ...lines] = layOutTable(cellsOf(rows, columns), { columns, width });
  const painted = rows.flatMap((row, at) => {
    const colour = paintOf(row);
    return (lines[at] ?? []).map(colour ? paint[colour] : plain);
  });
  return [...head.map(paint.faint), ...painted];
}

/** Whether a table fits the page. */
export function fitsPage<Row>(rows: readonly Row[], columns: readonly Column<Row>[], { columns: width }: Page) {
  const shape = { columns, width };
  return chooseLayout(columnWidths(cellsOf(rows, columns), shape), shape).fits;
}

function cellsOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): readonly (readonly string[])[] {
  return [columns.map(({ head }) => head), ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
}

interface TableShape {
  readonly columns: readonly TableColumn[];
  /** Columns of the terminal; Infinity if there is none. */
  readonly width: number;
  readonly gap?: number;
}

/** Do not wrap a sentence into fewer columns than this. */
const leastWrap = 24;
const indent = "    ";

/**
 * Lays out rows in columns that fit the width, and returns the lines of each row. If they do not fit, it truncates names, then moves
 * ids to separate lines, then drops columns. A row with one cell where the table has several columns is a remark: it is wrapped.
 */
export function layOutTable(rows: readonly (readonly string[])[], shape: TableShape): readonly (readonly string[])[] {
  const { columns, width, gap = 2 } = shape;
  const { idAlone, shown } = chooseLayout(columnWidths(rows, shape), shape);
  const sentences = columns.findIndex(({ wraps }) => wraps);
  return rows.map((row) => {
    const [first = ""] = row;
    if (isRemark(row, shape)) return wrapToWidth(first, width, indent);
    const cells = shown.map(({ at, width }) => padded(cutToWidth(row[at] ?? "", width), width, columns[at]));
    const line = `${idAlone ? "  " : ""}${cells.join(" ".repeat(gap))}`;
    const sentence = row[sentences] ?? "";
    return [...(idAlone ? [first] : []), ...withSentence(`${line}${" ".repeat(gap)}`, sentence, width)];
  });
}

function padded(cell: string, width: number, { right = false }: TableColumn = {}): string {
  return right ? padStart(cell, width) : padEnd(cell, width);
}

/** A line with a sentence after it, or below it if there is not enough space. */
function withSentence(line: string, sentence: string, width: number): readonly string[] {
  const used = widthOf(line);
  const room = width - used;
  if (sentence === "") return [line.trimEnd()];
  if (room < Math.min(leastWrap, widthOf(sentence)))
    return [line.trimEnd(), ...wrapToWidth(`${indent}${sentence}`, width, indent)];
  return wrapToWidth(sentence, room).map((part, at) => (at === 0 ? line : " ".repeat(used)) + part);
}

/** The columns shown side by side, with their widths. */
interface Layout {
  readonly idAlone: boolean;
  readonly fits: boolean;
  readonly shown: readonly { readonly at: number; readonly width: number }[];
}

/** The first layout that fits, giving up as little as possible; if none fits, the narrowest. */
function chooseLayout(natural: readonly number[], { columns, width, gap = 2 }: TableShape): Layout {
  const all = columns.flatMap(({ wraps = false }, at) => (wraps ? [] : [at]));
  const dropOf = (at: number) => columns[at]?.drop ?? 0;
  const dropping = all.filter((at) => columns[at]?.drop !== undefined).sort((a, b) => dropOf(a) - dropOf(b));
  const idAlone = columns[0]?.id ?? false;
  const beside = idAlone ? all.slice(1) : all;
  const layouts = [
    { idAlone: false, numbers: all },
    ...[undefined, ...dropping].map((_drop, count) => ({
      idAlone,
      numbers: beside.filter((at) => !dropping.slice(0, count).includes(at)),
    })),
  ].map((layout) => {
    const room = width - (layout.idAlone ? 2 : 0) - gap * (layout.numbers.length - 1);
    return { idAlone: layout.idAlone, ...squeezed(layout.numbers, natural, columns, room) };
  });
  const narrowest = layouts.at(-1) ?? { idAlone: false, fits: false, shown: [] };
  return layouts.find(({ fits }) => fits) ?? narrowest;
}

/** Shrinks the widest of the columns that may be truncated until the row fits. */
function squeezed(
  numbers: readonly number[],
  natural: readonly number[],
  columns: readonly TableColumn[],
  room: number,
) {
  const capped = (cap: number) =>
    numbers.map((at) => {
      const [own, least] = [natural[at] ?? 0, columns[at]?.least];
      return { at, width: least === undefined ? own : Math.min(own, Math.max(least, cap)) };
    });
  const fits = (cap: number) => capped(cap).reduce((sum, { width }) => sum + width, 0) <= room;
  let cap = Math.max(0, ...natural);
  while (cap > 0 && !fits(cap)) cap--;
  return { shown: capped(cap), fits: fits(cap) };
}

/** Renders files and folders with their meanings. */
export function renderPaths(
  plainArguments: readonly (readonly [path: string, meaning: string])[],
  columns: number,
): readonly string[] {
  const shape = { columns: [{ id: true }, { wraps: true }], width: columns - 2 };
  return layOutTable(plainArguments, shape)
    .flat()
    .map((line) => `  ${line}`);
}

/** The shortest way to write a path from the current folder. */
export function shortPath(path: string): string {
  if (isBucketUrl(path)) return path;
  const fromHere = relative("", path);
  return fromHere.startsWith("..") || fromHere === "" ? path : fromHere;
}

function isRemark(row: readonly string[], { columns }: TableShape): boolean {
  return row.length === 1 && columns.length > 1;
}

/** The terminal width of each column, from its widest cell. Remarks do not count. */
function columnWidths(rows: readonly (readonly string[])[], shape: TableShape): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    if (isRemark(row, shape)) continue;
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  return widths;
}
