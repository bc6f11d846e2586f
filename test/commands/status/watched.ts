import type { Row } from "../../../src/rows/row.js";
import {
  advance,
  emptyWatchTally,
  type WatchedDocument,
  type WatchTally,
} from "../../../src/status/watched-documents.js";
import { batchReading } from "../../indexing/reading.js";

/** Puts another reading of batch b into the tally, and gives what changed. */
export function poll(tally: WatchTally, at: number, ...rows: readonly Row[]): readonly WatchedDocument[] {
  const { documents, changed } = advance(tally.documents, [batchReading(...rows)], at);
  tally.documents = documents;
  tally.polls++;
  tally.readAt = at;
  return changed;
}

/** A tally after readings one second apart, the last of them now. */
export function tallyOf(now: number, ...readings: readonly (readonly Row[])[]): WatchTally {
  const tally = emptyWatchTally();
  readings.forEach((rows, index) => {
    poll(tally, now - 1000 * (readings.length - 1 - index), ...rows);
  });
  return tally;
}

/** A document that is being indexed. */
export function indexing(document_id: string, done: number, total = 8): Row {
  return { document_id, indexing_status: "indexing", completed_segments: done, total_segments: total };
}
