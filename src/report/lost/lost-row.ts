import type { ChunkChange, TextDiff } from "../../diff/run-diff.js";
import type { LostCard } from "../lost-facts.js";

/** A row of the older run that was lost, and may get a card. */
export interface LostRow extends Pick<LostCard, "level" | "loss" | "position" | "hand"> {
  readonly dataset_id: string;
  readonly document_id: string;
  /** The parent of a child chunk; null for a chunk. */
  readonly segment_id: string | null;
  /** Id in the older run; empty where the service sent none. */
  readonly id: string;
  /** The words that differ, of an edit that was undone. */
  readonly text: TextDiff | undefined;
}

/** The lost row of a change between the two runs. */
export function lostRowFrom(change: ChunkChange): LostRow {
  const { dataset_id, document_id, level, kind, hand_made, old_id, old_segment_id, old_position, text } = change;
  return {
    ...{ dataset_id, document_id, level, id: old_id ?? "", segment_id: old_segment_id, position: old_position },
    ...{ loss: kind === "removed" ? "removed" : "undone", hand: hand_made, text },
  };
}

/** Tells a row of the older run from all others. */
export function rowKey({
  dataset_id,
  document_id,
  level,
  segment_id,
  id,
}: Pick<LostRow, "dataset_id" | "document_id" | "level" | "segment_id" | "id">): string {
  return JSON.stringify([dataset_id, document_id, level, segment_id, id]);
}
