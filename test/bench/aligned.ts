/** Renders a Markdown table with aligned columns: the first `texts` columns to the left, the others to the right. */
export function aligned([head = [], ...rows]: readonly (readonly string[])[], texts: number): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const isText = (at: number) => at < texts;
  const cell = (text: string, at: number) =>
    isText(at) ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0);
  const rule = widths.map((width, at) => (isText(at) ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`));
  return [head, ...rows]
    .map((row) => `| ${row.map(cell).join(" | ")} |`)
    .toSpliced(1, 0, `|${rule.join("|")}|`)
    .join("\n");
}
