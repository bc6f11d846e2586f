import type { EarlierDocument } from "./move-plan.js";

/** A dataset at the service that takes documents of the dump. */
export interface PlacedDataset {
  readonly id: string;
  readonly name: string;
  /** It was there before the restore, and keeps its own settings. */
  readonly adopted?: true;
}

/** The datasets, documents and attachments at the service that a journal knows, by what they are copies of. */
export interface JournalFacts {
  /** By the key of their plan. */
  readonly datasets: ReadonlyMap<string, PlacedDataset>;
  /** By the id in the dump. */
  readonly documents: ReadonlyMap<string, EarlierDocument & { readonly target_dataset_id: string }>;
  /** Ids of attachments at the service, by their ids in the dump. */
  readonly attachments: ReadonlyMap<string, string>;
  /** How the documents were made; null where nothing was begun. */
  readonly from: "chunks" | "originals" | null;
}

/** The facts where nothing was begun. */
export const noFacts: JournalFacts = { datasets: new Map(), documents: new Map(), attachments: new Map(), from: null };
