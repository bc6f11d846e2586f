import type { Row } from "../../../src/rows/row.js";
import {
  advance,
  emptyWatchProgress,
  type WatchedDocument,
  type WatchProgress,
} from "../../../src/status/watched-documents.js";
import { batchReading } from "../../status/reading.js";

/** Adds a reading of batch b to the progress; returns the changes. */
export function poll(progress: WatchProgress, at: number, ...rows: readonly Row[]): readonly WatchedDocument[] {
  const { documents, changed } = advance(progress.documents, [batchReading(...rows)], at);
  progress.documents = documents;
  progress.polls++;
  progress.readAt = at;
  return changed;
}

/** The progress after these readings, one second apart; the last one is now. */
export function progressOf(now: number, ...readings: readonly (readonly Row[])[]): WatchProgress {
  const progress = emptyWatchProgress();
  readings.forEach((rows, index) => {
    poll(progress, now - 1000 * (readings.length - 1 - index), ...rows);
  });
  return progress;
}

/** A document whose indexing is running. */
export function indexing(document_id: string, done: number, total = 8): Row {
  return { document_id, indexing_status: "indexing", completed_segments: done, total_segments: total };
}
