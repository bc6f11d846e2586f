/** The differences between two dumps. Texts may hold anything that a service sends: not safe for a terminal. */
export interface RunDiff {
  readonly status: "same" | "different";
  readonly old: DiffedRun;
  readonly new: DiffedRun;
  readonly counts: {
    readonly documents: DocumentCounts;
    readonly chunks: ChangeCounts;
    readonly child_chunks: ChangeCounts;
  };
  /** Every document of either run: those of the old one in its order, then those that only the new one has. */
  readonly documents: readonly DocumentDiff[];
  /** Reasons why the comparison may be less complete than it seems. */
  readonly warnings: readonly string[];
}

/** One of the two runs. */
export interface DiffedRun {
  readonly folder: string;
  readonly job: string;
  readonly run_id: string;
  /** The format that was read. */
  readonly format: string;
  readonly chunks: number;
  readonly child_chunks: number;
}

/**
 * The status of a document. `removed`: only the old run has it; `added`: only the new one. `not_compared`: one of the runs
 * failed to read it, or it moved while it was read, so that its rows prove nothing.
 */
export type DocumentState = "same" | "different" | "removed" | "added" | "not_compared";

export type DocumentCounts = Readonly<Record<DocumentState, number>> & {
  /** Documents of whose chunks every one has a new id. */
  readonly reindexed: number;
};

/** Chunks, or child chunks: `added`, `removed`, `changed`, `moved` and `unchanged` are all there are, each counted once. */
export interface ChangeCounts {
  readonly added: number;
  readonly removed: number;
  /** Rows with another content or answer. */
  readonly changed: number;
  /** Rows with the same content and answer at another position. */
  readonly moved: number;
  readonly unchanged: number;
  /** Rows of both runs with other keywords, enabled, status, error, summary, attachments, type or extra. */
  readonly fields: number;
  /** Removed, or edits undone, in documents that were indexed anew. */
  readonly lost: number;
  /** Lost rows that had been made or edited by hand. */
  readonly lost_by_hand: number;
}

export interface DocumentDiff {
  readonly dataset_id: string;
  /** Null where neither run listed the documents. */
  readonly dataset_name: string | null;
  readonly document_id: string;
  readonly document_name: string | null;
  readonly state: DocumentState;
  /** Whether every chunk has a new id. */
  readonly reindexed: boolean;
  /** Whether chunks of the same content stand in another order; else those that moved did so because others came or went. */
  readonly reordered: boolean;
  /** Why it is not compared, or what else is to be known; null when there is nothing. */
  readonly reason: string | null;
  readonly chunks: ChangeCounts;
  readonly child_chunks: ChangeCounts;
}

/** How a row differs; `fields`: in nothing but the fields that are named. */
export type ChangeKind = "added" | "removed" | "changed" | "moved" | "fields";

/** How a row of the old run was made by hand: edited, added after the indexing, a child that is customized or has one. */
export type HandMade = "edited" | "added" | "customized";

/** One chunk or child chunk that differs. `old_…` is null for what was added, `new_…` for what was removed. */
export interface ChunkChange {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly level: "chunk" | "child_chunk";
  readonly kind: ChangeKind;
  /** A re-index lost it: the row is gone, or the edit undone. */
  readonly lost: boolean;
  /** The sign that the old row was made by hand; null without one, and for added rows. */
  readonly hand_made: HandMade | null;
  readonly old_id: string | null;
  readonly new_id: string | null;
  /** The old parent of a child chunk. */
  readonly old_segment_id: string | null;
  readonly new_segment_id: string | null;
  readonly old_position: number | null;
  readonly new_position: number | null;
  /** Names of the columns that differ beside content and answer. */
  readonly fields: readonly string[];
  /** The first 160 characters of the content. */
  readonly old_beginning: string | null;
  readonly new_beginning: string | null;
  /** With `text`, for what changed: what became of the words. */
  readonly text?: TextDiff;
}

/** Undefined: that column is the same. */
export interface TextDiff {
  readonly content?: readonly TextPart[];
  readonly answer?: readonly TextPart[];
}

/** A piece of a text. What is long is cut: `cut` is the number of characters that are left out where `…` stands. */
export interface TextPart {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
  readonly cut: number;
}
