import type { WatchedDocument } from "./watched-documents.js";

/** After so many milliseconds without a move a document is taken for stuck. */
export const stuckAfter = 600_000;

/** So many readings that tell the same are taken for a sign where its times are old. */
const fewReadings = 3;

const times = ["processing_started_at", "parsing_completed_at", "cleaning_completed_at", "splitting_completed_at"];

/** For how many milliseconds a document was not seen to move. */
export function stillFor({ firstSeen, moved }: WatchedDocument, now: number): number {
  return now - (moved ?? firstSeen);
}

/**
 * Whether a document that is worked on has made no progress for ten minutes: as far as it was watched; or, where it never moved
 * while it was read a few times, by the times that the service tells.
 */
export function isStuck(document: WatchedDocument, now: number): boolean {
  if (document.state !== "working") return false;
  if (stillFor(document, now) >= stuckAfter) return true;
  if (document.moved !== undefined || document.reads < fewReadings) return false;
  const told = times.map((name) => timeOf(document.row[name])).filter((time) => time !== undefined);
  return told.length > 0 && now - Math.max(...told) >= stuckAfter;
}

/** Milliseconds since the processing of a document began, by the service; undefined where it does not say so. */
export function ageOf({ row }: WatchedDocument, now: number): number | undefined {
  const began = timeOf(row.processing_started_at);
  return began === undefined ? undefined : Math.max(0, now - began);
}

function timeOf(value: unknown): number | undefined {
  return typeof value === "string" ? Date.parse(value) : undefined;
}
