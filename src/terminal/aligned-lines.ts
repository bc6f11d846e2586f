/**
 * Lines in columns as wide as they need, `gap` spaces apart; columns of the numbers in `right`, from 0, are flush right.
 * A row of one cell is a remark between the others: it stands as it is and makes no column wider.
 */
export function alignedLines(
  rows: readonly (readonly string[])[],
  right: readonly number[],
  gap = 2,
): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    if (row.length === 1) continue;
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  const padded = (cell: string, at: number) =>
    right.includes(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0);
  return rows.map((row) => (row.length === 1 ? row : row.map(padded)).join(" ".repeat(gap)).trimEnd());
}
