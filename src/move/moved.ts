/** A row of the dump that did not come, and nobody announced. */
export interface FailedRow {
  readonly level: "chunk" | "child_chunk";
  /** Id in the dump. */
  readonly id: string;
  readonly position: number | null;
  /** The reason as a sentence. */
  readonly reason: string;
}

/**
 * The outcome of one document. `restored`: all of it is there. `partial`: it is there but for the rows in `failed`, or for what `reason`
 * says. `failed`: it is not there, or not whole; `--retry-failed` tries it again. `waiting`: it failed earlier and was not tried.
 */
export interface MovedDocument {
  /** Ids in the dump. */
  readonly dataset_id: string;
  readonly document_id: string;
  readonly document_name: string;
  readonly outcome: "restored" | "partial" | "failed" | "waiting";
  /** Ids in the target; null where it was not made. */
  readonly target_dataset_id: string | null;
  readonly target_id: string | null;
  readonly failed: readonly FailedRow[];
  /** The reason as a sentence; null where it is restored. */
  readonly reason: string | null;
}

/** Everything that the writes of a move came to. */
export interface Moved {
  /** Those that come by the plan, in its order. */
  readonly documents: readonly MovedDocument[];
  /** Datasets, and their settings, fields and tags, that could not be made as planned: sentences. */
  readonly problems: readonly string[];
  /** Write requests sent, those of earlier processes of the same journal included. */
  readonly writes: number;
}

/** A move as its proof needs it. */
export interface AppliedMove {
  readonly moved: Moved;
  /** Names of tags that a dataset could not get, by the key of its plan. The problems say so, and the proof does not look for them. */
  readonly missingTags: ReadonlyMap<string, readonly string[]>;
}

/** A difference between the dump and the service that nobody announced. */
export interface MoveDifference {
  readonly level: "dataset" | "document" | "chunk" | "child_chunk";
  /** The document in the dump; null for a dataset. */
  readonly document_id: string | null;
  /** Id in the dump; of a row that is only at the service, the id there. */
  readonly id: string;
  readonly position: number | null;
  /** The difference as a sentence. */
  readonly reason: string;
}
