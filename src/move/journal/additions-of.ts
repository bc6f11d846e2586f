import type { JournalLine } from "./journal-lines.js";

/** A request that added chunks to a document, or may have. */
export interface Addition {
  /** Chunks of the document of the dump that come before its first, and chunks that it adds. */
  readonly first: number;
  readonly rows: number;
  /** Ids at the service, in order; null where its answer was lost and nothing showed it, so that it may show up yet. */
  readonly ids: readonly string[] | null;
}

/** The requests for the newest copy of a document of the dump, in their order, but for those that the service refused. */
export function additionsOf(lines: readonly JournalLine[], documentId: string): readonly Addition[] {
  const additions = new Map<number, Addition>();
  for (const line of lines) {
    if (line.kind === "intent" && line.document_id === documentId) {
      if (line.write === "create document") additions.clear();
      if (line.write === "add chunks")
        additions.set(line.number, { first: line.first ?? 0, rows: line.rows ?? 0, ids: null });
    }
    const addition = line.kind === "outcome" ? additions.get(line.number) : undefined;
    if (line.kind !== "outcome" || !addition) continue;
    if (line.outcome === "refused") additions.delete(line.number);
    if (line.outcome === "done") additions.set(line.number, { ...addition, ids: line.ids });
  }
  return [...additions.values()];
}
