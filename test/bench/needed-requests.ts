import type { Case } from "./cases.js";
import { childrenPerList, type Dataset } from "./dataset.js";

type Reading = Pick<Case, "dataset" | "childChunks" | "consistency">;

/** The requests that a dump needs, and not one more: those that read, those that prove, and one for the metadata fields. */
export function neededRequests({ dataset, childChunks, consistency }: Reading): number {
  return pagesOf(dataset) + listsOf(dataset, childChunks) + proofOf(dataset, consistency) + 1;
}

/** Chunks and child chunks that a dump has. */
export function rowsOf({ dataset, childChunks }: Pick<Reading, "dataset" | "childChunks">): number {
  const { documents, chunks, childLists } = dataset;
  return documents * chunks * (childLists && childChunks !== "none" ? 1 + childrenPerList : 1);
}

function pagesOf({ documents, chunks }: Dataset): number {
  return documents * Math.ceil(chunks / 100);
}

/** `auto` asks for a sample of each document, where its chunks embed all children or there are none. */
function listsOf({ documents, chunks, childLists, embedsChildren }: Dataset, childChunks: Case["childChunks"]): number {
  if (childChunks === "none") return 0;
  if (childChunks === "all" || (childLists && !embedsChildren)) return documents * chunks;
  return documents * Math.min(chunks, embedsChildren ? 4 : 5);
}

/** Requests that prove documents of several pages. */
function proofOf(dataset: Dataset, consistency: Case["consistency"]): number {
  const { documents, chunks } = dataset;
  const isLong = chunks > 100;
  if (consistency === "counts" || (!isLong && chunks !== 100)) return 0; // a full page may hide a row behind it
  if (consistency === "sweeps" || !isLong) return pagesOf(dataset);
  return documents * (chunks % 100 === 0 ? 3 : 2);
}
