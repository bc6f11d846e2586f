import { type Column, columns } from "../rows/columns.js";

/** The kinds whose changes are kept. */
export type HistoryKind = "chunks" | "child_chunks";

export const historyKinds: readonly HistoryKind[] = ["chunks", "child_chunks"];

/** How the changes of a kind are kept. */
export interface History {
  /** The table of the changes. */
  readonly table: string;
  /** The ids that a re-index replaces; the change has what each was, and in `new_…` what it is now. */
  readonly ids: readonly string[];
  /** What is compared from run to run. */
  readonly compared: readonly Column[];
  /** The name that a change goes by: the first one of which a column differs, else `other`. */
  readonly changes: readonly (readonly [change: string, columns: readonly string[]])[];
}

const ofDocument = new Set(["dataset_id", "document_id"]);
const compared = (kind: HistoryKind) => columns[kind].filter(({ name }) => !ofDocument.has(name));

export const histories: Readonly<Record<HistoryKind, History>> = {
  chunks: {
    table: "chunk_changes",
    ids: ["id"],
    compared: compared("chunks"),
    changes: [
      ["changed", ["content", "answer"]],
      ["enabled", ["enabled"]],
      ["status", ["status"]],
      ["keywords", ["keywords"]],
      ["reindexed", ["id"]],
      ["moved", ["position"]],
      ["hit_count", ["hit_count"]],
    ],
  },
  child_chunks: {
    table: "child_chunk_changes",
    ids: ["segment_id", "id"],
    compared: compared("child_chunks"),
    changes: [
      ["changed", ["content"]],
      ["type", ["type"]],
      ["reindexed", ["segment_id", "id"]],
      ["moved", ["position"]],
    ],
  },
};

/** SQL: the condition that two tables have the same row, going by its ids. */
export function sameRow(kind: HistoryKind, left: string, right: string): string {
  const names = ["dataset_id", "document_id", ...histories[kind].ids];
  return names.map((name) => `${left}.${name} = ${right}.${name}`).join(" AND ");
}
