import type { Cut } from "./cut.js";
import type { ChunkPlace, NamedDocument } from "./named-document.js";

/** The changes that each run found, from the history in the database of the job. */
export interface ChangeFacts {
  /** Oldest first, up to this run: the newest of them. Empty where there is no history. */
  readonly runs: readonly RunChanges[];
  /** Runs up to this one, those that are left out included. */
  readonly total: number;
  readonly query: string | null;
  /** Why there is no history, as a sentence; null where there is one. */
  readonly reason: string | null;
}

export interface RunChanges {
  readonly run_id: string;
  readonly started_at: number;
  readonly status: string;
  readonly chunks: number;
  /** Null where no changes were looked for, as in a first run. */
  readonly counts: Readonly<Record<ChangedKind, number>> | null;
}

/**
 * Kinds of changes of chunks: `reindexed`: a new id, otherwise the same; `switched`: enabled or disabled; `fields`: keywords, status or
 * another column. Child chunks are counted apart: `children_fields` are those with another position, id or other column. Hit counts alone are no change.
 */
export const changedKinds = [
  "added",
  "removed",
  "changed",
  "moved",
  "reindexed",
  "switched",
  "fields",
  "children_added",
  "children_removed",
  "children_changed",
  "children_fields",
] as const;
export type ChangedKind = (typeof changedKinds)[number];

/** The chunks that are never retrieved, and their places. Disabled chunks cannot be, and are left out. */
export interface HitFacts {
  /** Enabled chunks whose `hit_count` the service tells: 0 where it tells none. */
  readonly enabled: number;
  /** Those of them that were never hit: neither now nor, as far as the history knows, before a re-index. */
  readonly never: number;
  /** Hits that they count now; a re-index sets counts to 0. */
  readonly hits: number;
  /** Whether hits from before a re-index are known, from the history. */
  readonly has_history: boolean;
  /** Documents with such chunks, those with the most that were never hit first; also those of which all were hit. */
  readonly documents: Cut<DocumentHits>;
  /** Chunks that were never hit, the longest first. */
  readonly chunks: Cut<NeverHitChunk>;
}

/** Parts of a document, from its beginning to its end, in which hits are counted. */
export const placesOfDocument = 20;

export interface DocumentHits extends NamedDocument {
  readonly enabled: number;
  readonly never: number;
  readonly hits: number;
  /** `placesOfDocument` of them; a short document leaves some empty. */
  readonly places: readonly { readonly enabled: number; readonly never: number }[];
}

export interface NeverHitChunk extends ChunkPlace {
  readonly characters: number;
  readonly created_at: number | null;
  readonly beginning: string | null;
}
