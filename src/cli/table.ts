import { relative } from "node:path";
import { isBucketUrl } from "../job/s3-url.js";
import { cutToWidth, padEnd, padStart, widthOf, wrapToWidth } from "./display-width.js";

/** How a column behaves where the terminal is too narrow for the table. Numbers and ids are never cut. */
export interface TableColumn {
  /** Numbers stand flush right. */
  readonly right?: boolean;
  /** Names are cut, with an ellipsis, to no fewer columns than these. */
  readonly least?: number;
  /** The first column, of ids, goes on lines of its own. */
  readonly id?: boolean;
  /** The column is left out, that with the lowest number first. */
  readonly drop?: number;
  /** The last column, of sentences, is wrapped. */
  readonly wraps?: boolean;
}

interface TableShape {
  readonly columns: readonly TableColumn[];
  /** Columns of the terminal; Infinity where there is none. */
  readonly width: number;
  readonly gap?: number;
}

/** Fewer columns than these are too few to wrap a sentence in. */
const leastWrap = 24;
const indent = "    ";

/**
 * Lays out rows in columns that fit the width, and gives the lines of each row. Where they do not fit, names are cut, then ids
 * go on lines of their own, then columns are left out. A row of one cell is a remark, which is wrapped.
 */
export function layOutTable(rows: readonly (readonly string[])[], shape: TableShape): readonly (readonly string[])[] {
  const { columns, width, gap = 2 } = shape;
  const { idAlone, shown } = chooseLayout(columnWidths(rows), shape);
  const sentences = columns.findIndex(({ wraps }) => wraps);
  return rows.map((row) => {
    const [first = "", ...others] = row;
    if (others.length === 0) return wrapToWidth(first, width, indent);
    const cells = shown.map(({ at, width }) => padded(cutToWidth(row[at] ?? "", width), width, columns[at]));
    const line = `${idAlone ? "  " : ""}${cells.join(" ".repeat(gap))}`;
    const sentence = row[sentences] ?? "";
    return [...(idAlone ? [first] : []), ...withSentence(`${line}${" ".repeat(gap)}`, sentence, width)];
  });
}

function padded(cell: string, width: number, { right = false }: TableColumn = {}): string {
  return right ? padStart(cell, width) : padEnd(cell, width);
}

/** A line with a sentence behind it, or below it where that has no room. */
function withSentence(line: string, sentence: string, width: number): readonly string[] {
  const used = widthOf(line);
  const room = width - used;
  if (sentence === "") return [line.trimEnd()];
  if (room < Math.min(leastWrap, widthOf(sentence)))
    return [line.trimEnd(), ...wrapToWidth(`${indent}${sentence}`, width, indent)];
  return wrapToWidth(sentence, room).map((part, at) => (at === 0 ? line : " ".repeat(used)) + part);
}

/** The columns that are shown side by side, each with the room that it has. */
interface Layout {
  readonly idAlone: boolean;
  readonly shown: readonly { readonly at: number; readonly width: number }[];
}

/** The first layout that fits, in the order in which the least is given up; the narrowest where none does. */
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
  const narrowest = layouts.at(-1) ?? { idAlone: false, shown: [] };
  return layouts.find(({ fits }) => fits) ?? narrowest;
}

/** Takes from the columns that may be cut, one after another, what is too much for the room. */
function squeezed(
  numbers: readonly number[],
  natural: readonly number[],
  columns: readonly TableColumn[],
  room: number,
) {
  let excess = numbers.reduce((sum, at) => sum + (natural[at] ?? 0), 0) - room;
  const shown = numbers.map((at) => {
    const [own, least] = [natural[at] ?? 0, columns[at]?.least];
    const width = least === undefined || excess <= 0 ? own : Math.min(own, Math.max(least, own - excess));
    excess -= own - width;
    return { at, width };
  });
  return { shown, fits: excess <= 0 };
}

/** Renders files and folders, each with its meaning. */
export function renderPaths(
  plainArguments: readonly (readonly [path: string, meaning: string])[],
  columns: number,
): readonly string[] {
  const shape = { columns: [{ id: true }, { wraps: true }], width: columns - 2 };
  return layOutTable(plainArguments, shape)
    .flat()
    .map((line) => `  ${line}`);
}

/** A path as short as it can be written from here. */
export function shortPath(path: string): string {
  if (isBucketUrl(path)) return path;
  const fromHere = relative("", path);
  return fromHere.startsWith("..") || fromHere === "" ? path : fromHere;
}

/**
 * Lines in columns as wide as they need, `gap` spaces apart; columns of the numbers in `right`, from 0, are flush right.
 * A row of one cell is a remark between the others: it stands as it is and makes no column wider.
 */
export function alignedLines(
  rows: readonly (readonly string[])[],
  right: readonly number[],
  gap = 2,
): readonly string[] {
  const widths = columnWidths(rows);
  const padded = (cell: string, at: number) =>
    right.includes(at) ? padStart(cell, widths[at] ?? 0) : padEnd(cell, widths[at] ?? 0);
  return rows.map((row) => (row.length === 1 ? row : row.map(padded)).join(" ".repeat(gap)).trimEnd());
}

/** The columns that the widest cell of each column takes on a terminal; rows of one cell do not count. */
function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    if (row.length === 1) continue;
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  return widths;
}
