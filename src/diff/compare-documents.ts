import { type DocumentRow, documentKey } from "../rows/document-row.js";

/** A document of either run, and whether its rows can be compared. */
export interface DocumentPair {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly old: DocumentRow | undefined;
  readonly new: DocumentRow | undefined;
  /** Why its rows prove nothing; null when they can be compared. */
  readonly reason: string | null;
}

/** The documents of both runs: those of the old one in its order, then those that only the new one has. */
export function compareDocuments(
  before: readonly DocumentRow[],
  after: readonly DocumentRow[],
): readonly DocumentPair[] {
  const [olds, news] = [before, after].map((rows) => new Map(rows.map((row) => [documentKey(row), row])));
  const keys = new Set([...(olds?.keys() ?? []), ...(news?.keys() ?? [])]);
  return [...keys].flatMap((key) => {
    const [old, fresh] = [olds?.get(key), news?.get(key)];
    const row = old ?? fresh;
    if (!row) return [];
    const reasons = [reasonOf("old", old), reasonOf("new", fresh)].filter((reason) => reason !== undefined);
    const reason = reasons.length > 0 ? reasons.join("; ") : null;
    return [{ dataset_id: row.dataset_id, document_id: row.document_id, old, new: fresh, reason }];
  });
}

function reasonOf(run: "old" | "new", row: DocumentRow | undefined): string | undefined {
  if (row?.status === "failed") return `it could not be read in the ${run} run${row.error ? ` (${row.error})` : ""}`;
  if (row?.status === "unstable") return `it changed while it was read in the ${run} run`;
  return undefined;
}

/** Whether the document itself differs, whatever its rows do: only one run has it, or only one could read it. */
export function isOtherDocument(pair: DocumentPair): boolean {
  return pair.old?.status !== pair.new?.status;
}
