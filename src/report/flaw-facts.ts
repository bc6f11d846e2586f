import type { Cut } from "./cut.js";
import type { ChunkPlace } from "./named-document.js";

/** Rows that deserve a look, wherever they are. */
export interface FlawFacts {
  /** Contents that stand in several chunks, those that cost the most first. */
  readonly duplicates: Cut<DuplicateGroup>;
  /** Chunks that are copies of another one, and their characters. */
  readonly copies: { readonly chunks: number; readonly characters: number };
  readonly orphans: Cut<OrphanedChild>;
  readonly errors: Cut<ChunkError>;
  readonly disabled: Cut<DisabledChunk>;
}

export interface DuplicateGroup {
  readonly copies: number;
  readonly documents: number;
  /** Different answers of these chunks, in qa_model documents. */
  readonly answers: number;
  readonly characters: number;
  /** The first of them. */
  readonly first: ChunkPlace;
  readonly beginning: string | null;
}

/** A child chunk whose parent is not in the dump. */
export interface OrphanedChild extends ChunkPlace {
  readonly segment_id: string;
  readonly beginning: string | null;
}

export interface ChunkError extends ChunkPlace {
  readonly status: string | null;
  readonly error: string | null;
}

export interface DisabledChunk extends ChunkPlace {
  readonly disabled_at: number | null;
  /** The account, as the service names it. */
  readonly disabled_by: string | null;
  readonly beginning: string | null;
}
