import type { RunOptions } from "../job/open-service.js";
import { namesWith } from "../rows/columns.js";
import { jsonText } from "../rows/exact-json.js";
import type { Row } from "../rows/row.js";
import type { BatchReading } from "./capture-status.js";

/** A document of a watched batch. Times are in milliseconds. */
export interface WatchedDocument {
  readonly row: Row;
  /** `gone`: its batch was read and no longer lists it. */
  readonly state: DocumentState | "gone";
  readonly firstSeen: number;
  /** The number of readings that had this document. */
  readonly reads: number;
  /** When a reading last showed progress; undefined if none did. */
  readonly moved: number | undefined;
  readonly samples: readonly Sample[];
}

/** All watched documents by batch and document, in the order of the job and the service. */
export type WatchedDocuments = ReadonlyMap<string, WatchedDocument>;

/** The documents after a poll. */
interface Advance {
  readonly documents: WatchedDocuments;
  /** The current state of documents that are new or changed since the previous reading. */
  readonly changed: readonly WatchedDocument[];
}

/** Applies another poll. Documents of an unreadable batch stay unchanged. */
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

/** Whether there is nothing left to wait for at this document. */
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

/** The state of a document, as relevant to someone waiting for it. */
type DocumentState = "working" | "paused" | "completed" | "error";

/** The state in a row of `indexing_status`. Unknown stages count as working, because new ones may be added. */
export function stateOf({ indexing_status: status }: Row): DocumentState {
  return status === "completed" || status === "error" || status === "paused" ? status : "working";
}

/** The completed and total chunks of a document. */
interface Counts {
  readonly done: number;
  readonly total: number;
}

/** The counts in a row of `indexing_status`; undefined while the service has none, for example right after an update. */
export function countsOf({ completed_segments: done, total_segments: total }: Row): Counts | undefined {
  if (typeof done !== "number" || typeof total !== "number" || total <= 0) return undefined;
  return { done: Math.max(0, Math.min(done, total)), total };
}

/**
 * Whether a document has progressed, or at least changed stage, between readings. Ignores `extra`, which may hold anything, such
 * as the time of the answer.
 */
function hasMoved(before: Row, after: Row): boolean {
  return namesWith("indexing_status", "progress").some((name) => jsonText(before[name]) !== jsonText(after[name]));
}

/** Whether a reading differs from the previous one in anything but its time. */
function hasChanged(before: Row, after: Row): boolean {
  return jsonText({ ...before, captured_at: null }) !== jsonText({ ...after, captured_at: null });
}

/** A progress sample: time in ms and completed chunks. */
export interface Sample {
  readonly at: number;
  readonly done: number;
}

/** Maximum samples for the rate. Older ones say little about what comes next. */
const most = 32;

/** The stages before indexing, in which the total of chunks still grows. */
const before = new Set(["waiting", "parsing", "cleaning", "splitting"]);

/** Adds the sample of a new reading. Drops earlier ones if the document started over, which lowers the count. */
export function withSample(samples: readonly Sample[], row: Row, at: number): readonly Sample[] {
  const counts = countsOf(row);
  if (!counts || before.has(String(row.indexing_status))) return [];
  const last = samples.at(-1);
  if (last?.done === counts.done) return samples;
  const kept = last && counts.done < last.done ? [] : samples;
  return [...kept, { at, done: counts.done }].slice(-most);
}

/**
 * Milliseconds until every chunk is indexed, at the rate of the samples up to `now`. Undefined before and after indexing, and
 * until the samples show growth.
 */
export function timeLeft(samples: readonly Sample[], row: Row, now: number): number | undefined {
  const [first, last, counts] = [samples[0], samples.at(-1), countsOf(row)];
  if (!first || !last || !counts || row.indexing_status !== "indexing") return undefined;
  const grown = last.done - first.done;
  const elapsed = now - first.at;
  return grown > 0 && elapsed > 0 ? ((counts.total - counts.done) * elapsed) / grown : undefined;
}

/** Milliseconds without progress after which a document counts as stuck. */
export const stuckAfter = 600_000;

/** After this many readings without a change, a document counts as stuck if the times that the service reports are old. */
const fewReadings = 3;

const times = ["processing_started_at", "parsing_completed_at", "cleaning_completed_at", "splitting_completed_at"];

/** Milliseconds since a reading last showed progress of a document, or since the first reading. */
export function stillFor({ firstSeen, moved }: WatchedDocument, now: number): number {
  return now - (moved ?? firstSeen);
}

/**
 * Whether an active document has made no progress for ten minutes. That is known from watching it or, if it never moved in a
 * few readings, from the times that the service reports.
 */
export function isStuck(document: WatchedDocument, now: number): boolean {
  if (document.state !== "working") return false;
  if (stillFor(document, now) >= stuckAfter) return true;
  if (document.moved !== undefined || document.reads < fewReadings) return false;
  const reported = times.map((name) => timeOf(document.row[name])).filter((time) => time !== undefined);
  return reported.length > 0 && now - Math.max(...reported) >= stuckAfter;
}

/** Milliseconds since the service began to process a document; undefined if not reported. */
export function ageOf({ row }: WatchedDocument, now: number): number | undefined {
  const began = timeOf(row.processing_started_at);
  return began === undefined ? undefined : Math.max(0, now - began);
}

function timeOf(value: unknown): number | undefined {
  return typeof value === "string" ? Date.parse(value) : undefined;
}

/** The state of a watch. Its polls update it, and the progress view shows it. Times are in milliseconds. */
export interface WatchProgress {
  documents: WatchedDocuments;
  /** When every batch was last read. */
  readAt: number | undefined;
  polls: number;
  /** The number of stored readings. Only readings with changes are stored. */
  readings: number;
}

export function emptyWatchProgress(): WatchProgress {
  return { documents: new Map(), readAt: undefined, polls: 0, readings: 0 };
}

export interface WatchOptions extends Pick<RunOptions, "env" | "signal" | "log" | "now"> {
  /** Milliseconds between polls. */
  readonly interval: number;
  /** Milliseconds after which the watch ends even if documents are not completed; undefined: never. */
  readonly timeout?: number | undefined;
  readonly progress?: WatchProgress;
  /** Called after every poll with the new or changed documents. */
  readonly onPoll?: (changed: readonly WatchedDocument[]) => void;
  /** Waits between polls. May reject when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}
