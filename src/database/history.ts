import { type ChangeName, type Column, changeNames } from "../rows/column.js";
import { columns, namesWith } from "../rows/columns.js";

/** The kinds whose changes are kept. */
export type HistoryKind = "chunks" | "child_chunks";

export const historyKinds: readonly HistoryKind[] = ["chunks", "child_chunks"];

/** How the changes of a kind are kept. */
export interface History {
  /** The table of the changes. */
  readonly table: string;
  /** The ids that a re-index replaces; the change has what each was, and in `new_…` what it is now. */
  readonly ids: readonly string[];
  /** The columns that are compared from run to run. */
  readonly compared: readonly Column[];
  /** The name that a change goes by: the first one of which a column differs, else `other`. */
  readonly changes: readonly (readonly [change: ChangeName, columns: readonly string[]])[];
}

/** The history of a kind, as the roles of its columns make it. */
function historyOf(kind: HistoryKind, table: string): History {
  const changed = (change: ChangeName) =>
    columns[kind].filter((each) => each.change === change).map(({ name }) => name);
  return {
    table,
    ids: namesWith(kind, "parent", "id"),
    compared: columns[kind].filter(({ role }) => role !== "document"),
    changes: changeNames.map((change) => [change, changed(change)] as const).filter(([, names]) => names.length > 0),
  };
}

export const histories: Readonly<Record<HistoryKind, History>> = {
  chunks: historyOf("chunks", "chunk_changes"),
  child_chunks: historyOf("child_chunks", "child_chunk_changes"),
};

/** SQL: the condition that two tables have the same row, going by its ids. */
export function sameRow(kind: HistoryKind, left: string, right: string): string {
  const names = ["dataset_id", "document_id", ...histories[kind].ids];
  return names.map((name) => `${left}.${name} = ${right}.${name}`).join(" AND ");
}
