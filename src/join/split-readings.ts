import type { Row } from "../rows/row.js";

/** Readings of the indexing status before the documents were read, and after it. */
export interface SplitReadings {
  readonly before: readonly Row[];
  readonly after: readonly Row[];
}

/**
 * Tells the two readings of each batch apart by their times: a run reads every batch before the documents and again after them, so
 * rows of the earlier time come first. A batch that could be read once counts as read after.
 */
export function splitReadings(rows: readonly Row[]): SplitReadings {
  const times = new Map<string, { readonly first: unknown; isTwice: boolean }>();
  for (const row of rows) {
    const seen = times.get(batchKey(row));
    if (!seen) times.set(batchKey(row), { first: row.captured_at, isTwice: false });
    else if (seen.first !== row.captured_at) seen.isTwice = true;
  }
  const isBefore = (row: Row) => {
    const seen = times.get(batchKey(row));
    return seen?.isTwice === true && seen.first === row.captured_at;
  };
  return { before: rows.filter(isBefore), after: rows.filter((row) => !isBefore(row)) };
}

function batchKey({ dataset_id, batch }: Row): string {
  return JSON.stringify([dataset_id, batch]);
}
