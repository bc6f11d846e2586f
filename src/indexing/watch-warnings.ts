import { jsonText } from "../rows/exact-json.js";
import { countOf } from "../words.js";
import { countsOf } from "./document-reading.js";
import { ageOf, isStuck, stillFor, stuckAfter } from "./stuck.js";
import type { WatchedDocument, WatchedDocuments } from "./watched-documents.js";

/** Something that whoever watches has to hear of, once. */
export interface WatchWarning {
  /** The same for the same thing in every poll. */
  readonly about: string;
  readonly text: string;
}

/** Everything that is not as it should be at the moment: documents in error, paused, gone, or stuck. */
export function watchWarnings(documents: WatchedDocuments, now: number): readonly WatchWarning[] {
  return [...documents].flatMap(([key, document]) => {
    const what = warningOf(document, now);
    if (what === undefined) return [];
    const { document_id, batch } = document.row;
    const text = `document ${document_id} of batch ${jsonText(batch)} ${what.text}`;
    return [{ about: `${what.about} ${key}`, text }];
  });
}

function warningOf(document: WatchedDocument, now: number): WatchWarning | undefined {
  const { row, state } = document;
  if (state === "error") return { about: "error", text: `ended in an error: ${errorText(row.error)}` };
  if (state === "gone") return { about: "gone", text: "is no longer in its batch: it was removed or re-indexed" };
  if (state === "paused") return { about: "paused", text: "is paused until somebody resumes it" };
  if (isStuck(document, now)) {
    return { about: document.moved === undefined ? "still" : "stuck", text: stuckText(document, now) };
  }
  return undefined;
}

function stuckText(document: WatchedDocument, now: number): string {
  const { row } = document;
  const counts = countsOf(row);
  const age = ageOf(document, now);
  const facts = [
    String(row.indexing_status ?? "unknown"),
    counts && `${counts.done} of ${countOf(counts.total, "chunk")}`,
    age !== undefined && `started ${minutesText(age)} ago`,
    row.error === null ? "no error reported" : errorText(row.error),
  ];
  const still = stillFor(document, now);
  const what = still >= stuckAfter ? `has made no progress for ${minutesText(still)}` : "seems to be stuck";
  return `${what}: ${facts.filter(Boolean).join(", ")}`;
}

function minutesText(milliseconds: number): string {
  return `${Math.floor(milliseconds / 60_000)} min`;
}

function errorText(error: unknown): string {
  if (error === null || error === "") return "no reason reported";
  return typeof error === "string" ? error : jsonText(error);
}
