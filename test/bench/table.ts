import { aligned } from "./aligned.js";
import { cellsOf } from "./case-names.js";
import type { Line } from "./run-case.js";
import { requestsTo } from "./served.js";
import type { StartUp } from "./start-up.js";

/**
 * Renders the result as Markdown, for a terminal and for docs/benchmarks.md: the times of runs, the load on the service for each way to
 * read a hierarchical dataset, and the start-up time.
 */
export function tableOf(lines: readonly Line[], startUp?: StartUp): string {
  const ofHierarchy = lines.filter(({ dataset }) => dataset.embedsChildren);
  const others = lines.filter(({ dataset }) => !dataset.embedsChildren);
  const parts = [
    ...(others.length > 0 ? [runTable(others)] : []),
    ...(ofHierarchy.length > 0 ? [serviceTable(ofHierarchy)] : []),
    ...(startUp ? [startUpText(startUp)] : []),
  ];
  return `${parts.join("\n\n")}\n`;
}

function runTable(lines: readonly Line[]): string {
  const isPaired = lines.some(({ before }) => before !== undefined);
  const head = [
    ...describingHead,
    "wall",
    "× floor",
    "rows/s",
    "CPU",
    "µs/row",
    "RSS",
    "requests",
    ...(isPaired ? ["× wall", "× CPU"] : []),
  ];
  const rows = lines.map((line) => [
    ...cellsOf(line),
    seconds(line.wall),
    line.ratio.toFixed(2),
    whole(line.rows / line.wall),
    `${line.cpu.toFixed(1)} s`,
    whole((line.cpu / line.rows) * 1e6),
    megabytes(line.rss),
    whole(requestsTo(line.served)),
    ...(line.before ? [(line.wall / line.before.wall).toFixed(2), (line.cpu / line.before.cpu).toFixed(2)] : []),
  ]);
  return aligned([head, ...rows], 1);
}

const describingHead = ["name", "docs", "chunks", "lists", "formats", "proof", "latency", "in flight"];

/** Renders the load on the service for one dataset, a line for each way to read it. Ratios are relative to the first line. */
function serviceTable(lines: readonly Line[]): string {
  const [first] = lines;
  const times = (count: (line: Line) => number) => (line: Line) => (first ? count(line) / count(first) : 1).toFixed(1);
  const timesRequests = times(({ served }) => requestsTo(served));
  const timesCpu = times(({ served }) => served.cpu);
  const head = [
    "name",
    "children",
    "proof",
    "wall",
    "CPU",
    "RSS",
    "pages",
    "child lists",
    "requests",
    "×",
    "CPU of service",
    "×",
  ];
  const rows = lines.map((line) => [
    line.name,
    line.childChunks,
    line.consistency,
    seconds(line.wall),
    `${line.cpu.toFixed(1)} s`,
    megabytes(line.rss),
    whole(line.served.pages),
    whole(line.served.childLists),
    whole(requestsTo(line.served)),
    timesRequests(line),
    seconds(line.served.cpu),
    timesCpu(line),
  ]);
  return aligned([head, ...rows], 3);
}

function startUpText({ version, run, node }: StartUp): string {
  return `start-up: kbdump --version ${seconds(version)}; a run over one small document ${seconds(run)}; node alone ${seconds(node)}`;
}

const seconds = (value: number) => `${value.toFixed(2)} s`;
const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
const whole = (value: number) => Math.round(value).toLocaleString("en");
