import { namesWith } from "../rows/columns.js";
import { jsonText } from "../rows/exact-json.js";
import type { Row } from "../rows/row.js";

/** How far a document is, as far as somebody who waits for it is concerned. */
export type DocumentState = "working" | "paused" | "completed" | "error";

/** The state that a row of `indexing_status` tells. Stages are open: one that nobody knows is work. */
export function stateOf({ indexing_status: status }: Row): DocumentState {
  return status === "completed" || status === "error" || status === "paused" ? status : "working";
}

/** The chunks of a document that are done, and of how many; undefined where nothing is counted, as right after an update. */
export interface Counts {
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
export function hasMoved(before: Row, after: Row): boolean {
  return namesWith("indexing_status", "progress").some((name) => jsonText(before[name]) !== jsonText(after[name]));
}

/** Whether a reading says anything else than the one before, apart from when it was. */
export function hasChanged(before: Row, after: Row): boolean {
  return jsonText({ ...before, captured_at: null }) !== jsonText({ ...after, captured_at: null });
}
