import { aligned } from "../aligned.js";
import { median } from "../median.js";
import { requestsTo, type Served } from "../served.js";
import type { Contestant } from "./contestants.js";
import type { TreeUsage } from "./measure-tree.js";

/** A run, and the service's work for it. */
export interface Run extends Omit<TreeUsage, "stdout"> {
  readonly served: Served;
}

/** A contestant and its runs. */
export interface Result {
  readonly contestant: Pick<Contestant, "name" | "output">;
  readonly runs: readonly Run[];
}

/** Renders the medians of all runs as Markdown. Ratios are relative to the first contestant with the same output. */
export function resultTable(results: readonly Result[]): string {
  const lines = results.map(({ contestant, runs }) => ({
    ...contestant,
    wall: median(runs.map(({ wall }) => wall)),
    cpu: median(runs.map(({ cpu }) => cpu)),
    rss: Math.max(...runs.map(({ rss }) => rss)),
    requests: median(runs.map(({ served }) => requestsTo(served))),
    serviceCpu: median(runs.map(({ served }) => served.cpu)),
  }));
  const head = ["tool", "output", "wall", "×", "CPU", "×", "memory", "×", "requests", "CPU of service"];
  const rows = lines.map((line) => {
    const first = lines.find(({ output }) => output === line.output) ?? line;
    return [
      line.name,
      line.output,
      `${line.wall.toFixed(1)} s`,
      (line.wall / first.wall).toFixed(2),
      `${line.cpu.toFixed(1)} s`,
      (line.cpu / first.cpu).toFixed(2),
      `${Math.round(line.rss / 1e6)} MB`,
      (line.rss / first.rss).toFixed(2),
      line.requests.toLocaleString("en"),
      `${line.serviceCpu.toFixed(2)} s`,
    ];
  });
  return `${aligned([head, ...rows], 2)}\n`;
}
