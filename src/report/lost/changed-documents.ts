import type { ChangeCounts, DocumentDiff } from "../../diff/run-diff.js";
import { documentKey } from "../../rows/document-row.js";
import { type Cut, mostRows } from "../cut.js";
import type { DocumentChange } from "../lost-facts.js";

/** The documents that changed, those with the most lost rows first. `enabled`: lost rows that a diff does not count, by `documentKey`. */
export function changedDocuments(
  documents: readonly DocumentDiff[],
  { enabled, content, query }: { enabled: ReadonlyMap<string, number>; content: boolean; query: string },
): Cut<DocumentChange> {
  const changed = documents
    .map((document) => documentChange(document, enabled.get(documentKey(document)) ?? 0, content))
    .filter(({ state, reindexed }) => state !== "same" || reindexed);
  return { rows: changed.toSorted(mostLostFirst).slice(0, mostRows), total: changed.length, query };
}

function documentChange(document: DocumentDiff, enabled: number, content: boolean): DocumentChange {
  const { dataset_id, document_id, state, reindexed, chunks, child_chunks } = document;
  const { dataset_name, document_name } = content ? document : { dataset_name: null, document_name: null };
  const count = (name: keyof ChangeCounts) => chunks[name] + child_chunks[name];
  return {
    ...{ dataset_id, document_id, dataset_name, document_name },
    ...{ state, reindexed, added: count("added"), removed: count("removed") },
    ...{ changed: count("changed"), moved: count("moved") },
    ...{ lost: count("lost") + enabled, lost_by_hand: count("lost_by_hand") + enabled },
  };
}

function mostLostFirst(one: DocumentChange, other: DocumentChange): number {
  const changes = ({ added, removed, changed, moved }: DocumentChange) => added + removed + changed + moved;
  return (
    other.lost_by_hand - one.lost_by_hand ||
    other.lost - one.lost ||
    changes(other) - changes(one) ||
    (documentKey(one) < documentKey(other) ? -1 : 1)
  );
}
