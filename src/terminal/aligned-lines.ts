/** Lines in columns two spaces apart, as wide as they need; those of these numbers, from 0, flush right. */
export function alignedLines(rows: readonly (readonly string[])[], right: readonly number[]): readonly string[] {
  const width = (at: number) => Math.max(...rows.map((row) => row[at]?.length ?? 0));
  const widths = (rows[0] ?? []).map((_, at) => width(at));
  return rows.map((row) =>
    widths
      .map((size, at) => (right.includes(at) ? (row[at] ?? "").padStart(size) : (row[at] ?? "").padEnd(size)))
      .join("  ")
      .trimEnd(),
  );
}
