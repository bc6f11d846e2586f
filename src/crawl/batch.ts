import type { Listed } from "../client/check-answer.js";
import type { ChildEvidence, ChildPlan } from "./child-evidence.js";
import type { ListSize, ProblemsSoFar } from "./read-list.js";

/** How far a document is read; a later crawl can go on from here. */
export interface Checkpoint extends ListSize, ProblemsSoFar {
  /** Pages of chunks that are read. */
  readonly chunkPages: number;
  /** Answers with which they came, at the least. */
  readonly answers: number;
  /** Chunks that the service could not render. */
  readonly unreadableChunks: number;
  /** Whether the chunks were read from their end, and kept their ranks. */
  readonly isAnchored: boolean;
  /** Whether nothing was added lately. */
  readonly isSettled: boolean;
  /** Chunks whose children are read, or are known to be none, in the order of the chunks. */
  readonly childLists: number;
  /** Rows of the smallest piece of a page of children, where one could not be had whole. */
  readonly childPiece?: number | undefined;
  readonly children: ChildrenSoFar;
}

/** The state of reading the children of a document. */
export interface ChildrenSoFar {
  /** Evidence from the pages of chunks that were read. */
  readonly evidence: ChildEvidence;
  /** The source of the children; null until it is decided. */
  readonly plan: ChildPlan | null;
  /** Child lists that were asked for and are empty. */
  readonly empty: number;
  /** The first sampled chunk, from 0, whose child list is not what its page showed; null as long as none is known. */
  readonly differing: number | null;
}

/** Records of a document as they come, in their final order: all chunks first, then the children chunk by chunk. */
export interface Batch {
  readonly kind: "chunks" | "child_chunks";
  readonly records: readonly Listed[];
  /** The parent of child chunks; undefined for chunks, and for a batch without records that only has a checkpoint. */
  readonly chunkId: string | undefined;
  /** The form of the document; null where the service does not say, and with child chunks. */
  readonly docForm: string | null;
  /** Whether it came with a request of its own; children that a chunk embeds came with the chunk. */
  readonly isPage: boolean;
  /** Rows of the smallest piece in which the page came; undefined when it came with one answer. */
  readonly piece: number | undefined;
  /** The place to resume from once this batch is stored; undefined in the middle of a child list. */
  readonly checkpoint: Checkpoint | undefined;
}
