import type { Format, ServiceOptions } from "../job/job.js";

/** What a run does, as far as it takes time. */
export interface Work {
  readonly chunkPages: number;
  readonly childLists: number;
  readonly otherRequests: number;
  /** Chunks and child chunks together. */
  readonly rows: number;
  readonly formats: readonly Format[];
}

/** Milliseconds of one request in the median; undefined where none was sent. */
export interface Latencies {
  readonly chunkPage: number | undefined;
  readonly childList: number | undefined;
  readonly other: number | undefined;
}

export interface Estimate {
  readonly seconds: number;
  readonly boundBy: "latency" | "max_rps" | "this machine";
}

/** What this machine takes for a request, and for a row of it, in milliseconds: measured on two cores of a common server. */
const perRequest = 0.3;
const perRow = 0.02;
/** Milliseconds to write a row in a format, and to begin with one. */
const perWrittenRow: Readonly<Record<Format, number>> = { jsonl: 0.002, csv: 0.01, parquet: 0.008, duckdb: 0.012 };
const perFormat: Readonly<Record<Format, number>> = { jsonl: 20, csv: 20, parquet: 100, duckdb: 250 };

/**
 * Seconds of a run: whatever takes longest of latency at so many requests in flight, `maxRps` and this machine, then the
 * writing of the formats.
 */
export function estimateTime(
  work: Work,
  latencies: Latencies,
  { concurrency, maxRps }: Pick<ServiceOptions, "concurrency" | "maxRps">,
): Estimate {
  const { chunkPages, childLists, otherRequests, rows, formats } = work;
  const page = latencies.chunkPage ?? 0;
  const list = latencies.childList ?? page;
  const other = latencies.other ?? list;
  const requests = chunkPages + childLists + otherRequests;
  const inSequence = other * 2 + page + list; // before, the first page, its first list, after
  const waiting = inSequence + (chunkPages * page + childLists * list) / concurrency;
  const bounds = [
    { boundBy: "latency", milliseconds: waiting },
    { boundBy: "max_rps", milliseconds: maxRps === undefined ? 0 : (requests * 1000) / maxRps },
    { boundBy: "this machine", milliseconds: requests * perRequest + rows * perRow },
  ] as const;
  const [longest] = [...bounds].sort((a, b) => b.milliseconds - a.milliseconds);
  const writing = formats.reduce((sum, format) => sum + perFormat[format] + rows * perWrittenRow[format], 0);
  const seconds = ((longest?.milliseconds ?? 0) + writing) / 1000;
  return { seconds: Math.round(seconds * 10) / 10, boundBy: longest?.boundBy ?? "latency" };
}
