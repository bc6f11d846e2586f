import type { Row } from "../rows/row.js";
import { countsOf } from "./document-reading.js";

/** How many chunks were done at a moment, in milliseconds. */
export interface Sample {
  readonly at: number;
  readonly done: number;
}

/** So many samples tell the rate: what was long ago says little of what is to come. */
const most = 32;

/** In these stages nothing is indexed yet, and the total still grows. */
const before = new Set(["waiting", "parsing", "cleaning", "splitting"]);

/** The samples with that of a new reading; only those of one course, as counts fall when a document is begun anew. */
export function withSample(samples: readonly Sample[], row: Row, at: number): readonly Sample[] {
  const counts = countsOf(row);
  if (!counts || before.has(String(row.indexing_status))) return [];
  const last = samples.at(-1);
  if (last?.done === counts.done) return samples;
  const course = last && counts.done < last.done ? [] : samples;
  return [...course, { at, done: counts.done }].slice(-most);
}

/**
 * Milliseconds until every chunk is indexed, at the rate of the samples up to `now`; undefined where they tell none: before
 * the indexing, after it, and as long as nothing was seen to grow.
 */
export function timeLeft(samples: readonly Sample[], row: Row, now: number): number | undefined {
  const [first, last, counts] = [samples[0], samples.at(-1), countsOf(row)];
  if (!first || !last || !counts || row.indexing_status !== "indexing") return undefined;
  const grown = last.done - first.done;
  const elapsed = now - first.at;
  return grown > 0 && elapsed > 0 ? ((counts.total - counts.done) * elapsed) / grown : undefined;
}
