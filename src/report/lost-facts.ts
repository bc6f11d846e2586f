import type { NamedDocument } from "./named-document.js";

/** The losses since an older run: the rows that a re-index took, those first that were made by hand. */
export interface LostFacts {
  readonly old: { readonly job: string; readonly run_id: string; readonly finished_at: number };
  /** Documents that were indexed again. */
  readonly reindexed: number;
  /** Documents of either run that could not be compared, and those of the older run that the newer one does not have. */
  readonly not_compared: number;
  readonly gone: number;
  /** Chunks and child chunks that a re-index took, or enabled again; and those of them with evidence of a manual edit. */
  readonly lost: number;
  readonly lost_by_hand: number;
  /** Documents with changes, those with the most lost rows first, made by hand before others. */
  readonly documents: Cut<DocumentChange>;
  /** The first lost rows. */
  readonly cards: readonly LostCard[];
  /** Lost rows that have no card. */
  readonly left_out: number;
  /** Prints all of them. */
  readonly query: string | null;
  readonly restore: RestoreFacts;
  /** Sentences on what may make the comparison say less than it seems to; empty without content. The count is that of all. */
  readonly warnings: readonly string[];
  readonly warning_count: number;
}

/** Whether, and how, `restore` restores rows. */
export interface RestoreFacts {
  /** The command that plans it; null where no row has the evidence, or the older run is not fit for it. */
  readonly command: string | null;
  /** The command that writes it, once it was looked at; null where there is no command. */
  readonly apply: string | null;
  /** Rows that it would write. */
  readonly rows: number;
  /** Why there is no command, as a sentence; null where there is one. */
  readonly reason: string | null;
}

export interface DocumentChange extends NamedDocument {
  readonly state: "same" | "different" | "removed" | "added" | "not_compared";
  readonly reindexed: boolean;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly moved: number;
  readonly lost: number;
  readonly lost_by_hand: number;
}

/** One lost row. */
export interface LostCard extends NamedDocument {
  readonly level: "chunk" | "child_chunk";
  /** `removed`: the row is gone. `undone`: it says again what it said before an edit. `enabled`: it had been disabled by hand. */
  readonly loss: "removed" | "undone" | "enabled";
  /** In the older run. */
  readonly id: string;
  readonly position: number | null;
  /** The manual edit; null if there is no evidence of one. */
  readonly edit: "edited" | "added" | "disabled" | "customized" | null;
  /** The account that made it, as the service names it; null where it does not say. */
  readonly by: string | null;
  readonly at: number | null;
  /** The old text, and what became of its words; empty without content, and where the answer is the same. */
  readonly content: readonly WordPart[];
  readonly answer: readonly WordPart[];
  /** The command that restores this row, by the evidence or by choosing it; null where none does. */
  readonly command: string | null;
  /** Whether the evidence allows the command; false: it is the owner's choice. */
  readonly has_evidence: boolean;
  /** Why it is left to the owner, as a sentence; null where the evidence allows it. */
  readonly reason: string | null;
}

/** A piece of a text. Struck out is what was lost, put in what stands there now. `cut`: characters left out where `…` stands. */
export interface WordPart {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
  readonly cut: number;
}

/** Lost rows that get a card. */
export const mostCards = 100;

/** The first rows of a table, those first that need a look. */
export interface Cut<Row> {
  readonly rows: readonly Row[];
  /** Rows that there are; those that are left out included. */
  readonly total: number;
  /** The command that prints all of them; null where none does. */
  readonly query: string | null;
}

/** Rows that a table gets at the most; the page shows fewer where they are long. */
export const mostRows = 300;
