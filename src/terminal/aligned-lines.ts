import { padEnd, padStart, widthOf } from "./display-width.js";

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
export function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    if (row.length === 1) continue;
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  return widths;
}
