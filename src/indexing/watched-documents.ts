import type { Row } from "../rows/row.js";
import { type DocumentState, hasChanged, hasMoved, stateOf } from "./document-reading.js";
import type { BatchReading } from "./read-batches.js";
import { type Sample, withSample } from "./time-left.js";

/** A document of a batch that is watched. Moments are in milliseconds. */
export interface WatchedDocument {
  readonly row: Row;
  /** `gone`: its batch was read, and does not name it any more. */
  readonly state: DocumentState | "gone";
  readonly firstSeen: number;
  /** How often it was read. */
  readonly reads: number;
  /** When it was seen to move for the last time; undefined as long as it was not. */
  readonly moved: number | undefined;
  readonly samples: readonly Sample[];
}

/** Everything that is watched, by batch and document, in the order of the job and the service. */
export type WatchedDocuments = ReadonlyMap<string, WatchedDocument>;

/** The result of a poll. */
export interface Advance {
  readonly documents: WatchedDocuments;
  /** The documents that are new or of which anything is told otherwise than before, as they are now. */
  readonly changed: readonly WatchedDocument[];
}

/** The documents after another poll; those of a batch that could not be read stay as they were. */
export function advance(documents: WatchedDocuments, readings: readonly BatchReading[], now: number): Advance {
  const next = new Map(documents);
  const changed = new Map<string, WatchedDocument>();
  for (const { datasetId, batch, rows, error } of readings) {
    if (error) continue;
    const named = new Map(rows.map((row) => [keyOf(row), row]));
    for (const [key, row] of named) {
      const earlier = documents.get(key);
      const document = earlier ? advanced(earlier, row, now) : firstReading(row, now);
      next.set(key, document);
      if (!earlier || hasChanged(earlier.row, row)) changed.set(key, document);
    }
    for (const [key, document] of documents) {
      const { dataset_id, batch: itsBatch } = document.row;
      const isOurs = dataset_id === datasetId && itsBatch === batch;
      if (isOurs && !named.has(key)) next.set(key, { ...document, state: "gone" });
    }
  }
  return { documents: next, changed: [...changed.values()] };
}

/** Whether nothing is to be waited for any more. */
export function isOver({ state }: WatchedDocument): boolean {
  return state === "completed" || state === "error" || state === "gone";
}

function firstReading(row: Row, now: number): WatchedDocument {
  return { row, state: stateOf(row), firstSeen: now, reads: 1, moved: undefined, samples: withSample([], row, now) };
}

function advanced(earlier: WatchedDocument, row: Row, now: number): WatchedDocument {
  const moved = hasMoved(earlier.row, row) ? now : earlier.moved;
  const reads = earlier.reads + 1;
  return { ...earlier, row, state: stateOf(row), reads, moved, samples: withSample(earlier.samples, row, now) };
}

function keyOf({ dataset_id, batch, document_id }: Row): string {
  return JSON.stringify([dataset_id, batch, document_id]);
}
