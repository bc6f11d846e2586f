import type { ChildrenSoFar } from "../../crawl/batch.js";
import { listCounts, planChildren } from "../../crawl/child-evidence.js";
import type { ChildLists } from "../../dump/manifest/manifest.js";
import type { Job } from "../../job/job.js";
import type { DocumentRow } from "../../rows/document-row.js";

/** Sums up how the children of a document were read; null without children. */
export function childListsOf(
  childChunks: Job["childChunks"],
  row: DocumentRow,
  children: ChildrenSoFar | undefined,
): ChildLists | null {
  if (childChunks === "none" || !children) return null;
  const { evidence, empty, differing } = children;
  const auto = children.plan ?? planChildren(evidence, differing ?? undefined);
  const asks = listCounts(evidence, auto);
  const { dataset_id, document_id } = row;
  const counts = childChunks === "auto" ? asks : { asked: evidence.chunks, embedded: 0, skipped: 0 };
  return {
    dataset_id,
    document_id,
    ...counts,
    empty,
    embedding: evidence.embedding,
    reason: childChunks === "auto" ? auto.reason : "child_chunks: all",
    auto_asks: row.status === "complete" ? asks.asked : null,
    auto_misses: childChunks === "all" && auto.source === "none" ? row.child_chunk_count : 0,
  };
}

/** The sums over all documents; `auto_asks` counts a document that moved with all its lists. */
export interface ChildListSums {
  readonly asked: number;
  readonly embedded: number;
  readonly skipped: number;
  readonly empty: number;
  /** Child lists that were asked for and that `auto` does not ask for: requests that it saves, at the least. */
  readonly auto_saves: number;
  readonly auto_misses: number;
}

/** Adds up what was read of several documents. */
export function sumOfChildLists(all: readonly ChildLists[]): ChildListSums {
  const sum = (of: (one: ChildLists) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    asked: sum(({ asked }) => asked),
    embedded: sum(({ embedded }) => embedded),
    skipped: sum(({ skipped }) => skipped),
    empty: sum(({ empty }) => empty),
    auto_saves: sum(({ asked, auto_asks }) => asked - (auto_asks ?? asked)),
    auto_misses: sum(({ auto_misses }) => auto_misses),
  };
}
