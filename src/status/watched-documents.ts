import type { RunOptions } from "../job/open-service.js";
import { namesWith } from "../rows/columns.js";
import { jsonText } from "../rows/exact-json.js";
import type { Row } from "../rows/row.js";
import type { BatchReading } from "./capture-status.js";

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
interface Advance {
  readonly documents: WatchedDocuments;
  /** The documents that are new or that changed since the reading before, as they are now. */
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

/** How far a document is, as far as somebody who waits for it is concerned. */
type DocumentState = "working" | "paused" | "completed" | "error";

/** The state in a row of `indexing_status`. New stages may come: an unknown one counts as work. */
export function stateOf({ indexing_status: status }: Row): DocumentState {
  return status === "completed" || status === "error" || status === "paused" ? status : "working";
}

/** The chunks of a document that are done, and of how many; undefined where nothing is counted, as right after an update. */
interface Counts {
  readonly done: number;
  readonly total: number;
}

export function countsOf({ completed_segments: done, total_segments: total }: Row): Counts | undefined {
  if (typeof done !== "number" || typeof total !== "number" || total <= 0) return undefined;
  return { done: Math.max(0, Math.min(done, total)), total };
}

/**
 * Whether a document has come further, or at least elsewhere, from one reading to the next. `extra` does not count: it may hold
 * anything, such as the time of the answer.
 */
function hasMoved(before: Row, after: Row): boolean {
  return namesWith("indexing_status", "progress").some((name) => jsonText(before[name]) !== jsonText(after[name]));
}

/** Whether a reading says anything else than the one before, apart from when it was. */
function hasChanged(before: Row, after: Row): boolean {
  return jsonText({ ...before, captured_at: null }) !== jsonText({ ...after, captured_at: null });
}

/** How many chunks were done at a moment, in milliseconds. */
export interface Sample {
  readonly at: number;
  readonly done: number;
}

/** So many samples tell the rate: what was long ago says little of what is to come. */
const most = 32;

/** In these stages nothing is indexed yet, and the total still grows. */
const before = new Set(["waiting", "parsing", "cleaning", "splitting"]);

/** The samples with that of a new reading; only those of one course, as counts fall when a document starts over. */
export function withSample(samples: readonly Sample[], row: Row, at: number): readonly Sample[] {
  const counts = countsOf(row);
  if (!counts || before.has(String(row.indexing_status))) return [];
  const last = samples.at(-1);
  if (last?.done === counts.done) return samples;
  const kept = last && counts.done < last.done ? [] : samples;
  return [...kept, { at, done: counts.done }].slice(-most);
}

/**
 * Milliseconds until every chunk is indexed, at the rate of the samples up to `now`; undefined where they show none: before
 * the indexing, after it, and as long as nothing was seen to grow.
 */
export function timeLeft(samples: readonly Sample[], row: Row, now: number): number | undefined {
  const [first, last, counts] = [samples[0], samples.at(-1), countsOf(row)];
  if (!first || !last || !counts || row.indexing_status !== "indexing") return undefined;
  const grown = last.done - first.done;
  const elapsed = now - first.at;
  return grown > 0 && elapsed > 0 ? ((counts.total - counts.done) * elapsed) / grown : undefined;
}

/** The state of a watch; its polls fill it, the progress view shows it. Moments are in milliseconds. */
export interface WatchProgress {
  documents: WatchedDocuments;
  /** When every batch was read for the last time. */
  readAt: number | undefined;
  polls: number;
  /** Readings that were kept, as they told something new. */
  readings: number;
}

/** A tally of nothing yet. */
export function emptyWatchProgress(): WatchProgress {
  return { documents: new Map(), readAt: undefined, polls: 0, readings: 0 };
}

export interface WatchOptions extends Pick<RunOptions, "env" | "signal" | "log" | "now"> {
  /** Milliseconds from one poll to the next. */
  readonly interval: number;
  /** Milliseconds after which the watch ends although not every document is completed; never, if undefined. */
  readonly timeout?: number | undefined;
  readonly progress?: WatchProgress;
  /** Called after every poll with the documents that are new or changed. */
  readonly onPoll?: (changed: readonly WatchedDocument[]) => void;
  /** Rejects, or not, when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}
