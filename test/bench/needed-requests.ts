import type { Case } from "./cases.js";
import { childrenPerList, type Dataset } from "./dataset.js";

type Reading = Pick<Case, "dataset" | "childChunks" | "consistency">;

/** The exact number of requests for a dump: to read, to prove, and one for the metadata fields. */
export function neededRequests({ dataset, childChunks, consistency }: Reading): number {
  return pagesOf(dataset) + listsOf(dataset, childChunks) + proofOf(dataset, consistency) + 1;
}

/** The number of chunks and child chunks in a dump. */
export function rowsOf({ dataset, childChunks }: Pick<Reading, "dataset" | "childChunks">): number {
  const { documents, chunks, childLists } = dataset;
  return documents * chunks * (childLists && childChunks !== "none" ? 1 + childrenPerList : 1);
}

function pagesOf({ documents, chunks }: Dataset): number {
  return documents * Math.ceil(chunks / 100);
}

/** The number of child lists that a run reads. With `auto`, it reads a sample per document if chunks embed all children or have none. */
function listsOf({ documents, chunks, childLists, embedsChildren }: Dataset, childChunks: Case["childChunks"]): number {
  if (childChunks === "none") return 0;
  if (childChunks === "all" || (childLists && !embedsChildren)) return documents * chunks;
  return documents * Math.min(chunks, embedsChildren ? 4 : 5);
}

/** The number of requests to prove documents of several pages. */
function proofOf(dataset: Dataset, consistency: Case["consistency"]): number {
  const { documents, chunks } = dataset;
  const isLong = chunks > 100;
  if (consistency === "counts" || (!isLong && chunks !== 100)) return 0; // a full page may not be the last one
  if (consistency === "sweeps" || !isLong) return pagesOf(dataset);
  return documents * ((chunks % 100 === 0 ? 2 : 1) + (chunks > 200 ? 1 : 0));
}
