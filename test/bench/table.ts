import type { Line } from "./run-case.js";
import type { StartUp } from "./start-up.js";

/** The result as Markdown, for a terminal and for docs/benchmarks.md. */
export function tableOf(lines: readonly Line[], startUp: StartUp): string {
  const isPaired = lines.some(({ before }) => before !== undefined);
  const head = [
    "read",
    "formats",
    "proof",
    "latency",
    "in flight",
    "wall",
    "× floor",
    "rows/s",
    "CPU",
    "RSS",
    "requests",
    ...(isPaired ? ["× wall before", "× CPU before"] : []),
  ];
  const rows = lines.map((line) => [
    datasetText(line),
    line.formats.join(" "),
    line.consistency,
    `${line.latency} ms`,
    String(line.inFlight),
    `${line.wall.toFixed(2)} s`,
    line.ratio.toFixed(2),
    Math.round(line.rowsPerSecond).toLocaleString("en"),
    `${line.cpu.toFixed(1)} s`,
    `${Math.round(line.rss / 1e6)} MB`,
    line.requests.toLocaleString("en"),
    ...(line.before ? [(line.wall / line.before.wall).toFixed(2), (line.cpu / line.before.cpu).toFixed(2)] : []),
  ]);
  const small = `kbdump --version: ${startUp.version.toFixed(2)} s; a run over one small document: ${startUp.run.toFixed(2)} s; node alone: ${startUp.node.toFixed(2)} s`;
  return `${aligned([head, ...rows])}\n\n${small}\n`;
}

function datasetText({ dataset: { documents, chunks, childLists } }: Line): string {
  const what = documents === 1 ? "" : ` in ${documents.toLocaleString("en")} documents`;
  return `${(documents * chunks).toLocaleString("en")} chunks${what}${childLists ? ", a child list each" : ""}`;
}

function aligned([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => (at < 3 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, at) => (at < 3 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}
