import { max } from "d3-array";
import type { DocumentIndexing } from "../../state-facts.js";

/** The stages of an indexing, in the order in which a document goes through them. */
export const stages = ["parsing", "cleaning", "splitting", "indexing"] as const;

/** A piece of an indexing, in milliseconds from its beginning. */
export interface IndexingPiece {
  readonly stage: (typeof stages)[number] | "error" | "not completed";
  readonly from: number;
  readonly to: number;
}

export interface IndexingSpans {
  readonly pieces: readonly IndexingPiece[];
  /** Milliseconds from the beginning up to its end, or to the newest reading. */
  readonly length: number;
  readonly isCompleted: boolean;
}

/**
 * The indexing of a document in pieces that follow each other. A stage whose end the service does not say is part of the next one that has
 * an end. After the last known end, a document that is not completed goes on up to the newest reading, or to its error.
 */
export function indexingSpans(document: DocumentIndexing): IndexingSpans {
  const isCompleted = document.indexing_status === "completed";
  const began = document.started_at;
  if (began === null) return { pieces: [], length: 0, isCompleted };
  const ends = [document.parsed_at, document.cleaned_at, document.split_at, document.completed_at];
  const pieces: IndexingPiece[] = [];
  let from = 0;
  for (const [at, stage] of stages.entries()) {
    const end = ends[at] ?? null;
    if (end === null || end - began < from) continue;
    pieces.push({ stage, from, to: end - began });
    from = end - began;
  }
  if (isCompleted) return { pieces, length: from, isCompleted };
  const isError = document.indexing_status === "error";
  const to = ((isError ? document.stopped_at : null) ?? document.captured_at) - began;
  if (to > from) pieces.push({ stage: isError ? "error" : "not completed", from, to });
  return { pieces, length: max(pieces, (piece) => piece.to) ?? 0, isCompleted };
}
