import type { Dump } from "../../dump/open-dump.js";
import type { DocumentId } from "../../restore/document-rows.js";
import type { LossPart, MoveFrom } from "../move-plan.js";
import type { CopiedDataset } from "./compare-dataset.js";

/** A document of a dump, and the one at the service that it is compared with. */
export interface DocumentPair {
  readonly old: DocumentId;
  readonly live: DocumentId;
}

/** The facts of documents that were restored as copies. */
export interface Copies {
  readonly from: MoveFrom;
  /** By `datasetPairKey`. */
  readonly datasets: ReadonlyMap<string, CopiedDataset>;
  /** Parts of documents that were announced not to come, by the id of the document in the dump. */
  readonly losses: ReadonlyMap<string, ReadonlySet<LossPart>>;
  /** The id at the service of an attachment of the dump; undefined where it was announced not to come. */
  readonly attachmentOf: (id: string) => string | undefined;
  /** Ids in the dump of rows that are known not to be there as they should, and were reported. */
  readonly failed: ReadonlySet<string>;
}

export interface CompareOptions {
  readonly old: Dump;
  /** A dump of the documents of all `pairs`, with `details` where the old one has them. */
  readonly live: Dump;
  readonly pairs: readonly DocumentPair[];
  /** Null: the documents are the same, with the same ids. */
  readonly copies: Copies | null;
  /** Memory for DuckDB, as DuckDB reads it. */
  readonly memory: string;
  readonly signal: AbortSignal;
  /** Called after each document. */
  readonly onDocument?: (rows: ComparedRows) => void;
}

/** The rows that the run has of a document: those that were compared, and those that have no copy, as they say nothing. */
export interface ComparedRows {
  readonly compared: RowCounts;
  readonly refused: RowCounts;
}

export interface RowCounts {
  readonly chunks: number;
  readonly child_chunks: number;
}
