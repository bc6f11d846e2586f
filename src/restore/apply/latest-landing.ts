import type { ApplyOptions } from "./apply-options.js";
import { isChunkAdd, type Journal } from "./journal.js";
import type { Intent } from "./journal-lines.js";

export interface LandingOptions extends Required<Pick<ApplyOptions, "settle" | "lockTime">> {
  readonly journal: Pick<Journal, "sentAt">;
}

/**
 * The latest time at which a write may still be carried out, in milliseconds since 1970. An add of a chunk first waits for the lock of its
 * document, which a server that was killed keeps for 600 s (multi_add_segment_lock_document_id_… in Dify's `SegmentService`).
 */
export function latestLanding(intent: Intent, { journal, settle, lockTime }: LandingOptions): number {
  const sent = journal.sentAt(intent) ?? Date.parse(intent.time);
  return sent + 1_000 * (settle + (isChunkAdd(intent) ? lockTime : 0));
}
