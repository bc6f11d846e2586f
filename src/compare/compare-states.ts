import type { Connection } from "../duckdb/open-duckdb.js";
import { factsSql } from "./facts-sql.js";
import { addedSql, editsSql, emptyHistory, type KnownHistory } from "./history.js";
import { type ComparedDocument, loadDocuments } from "./load-facts.js";
import { findLosses } from "./losses.js";

/** One of two states of documents: SQL that selects its rows, with JSON as VARCHAR. */
export interface StateRows {
  readonly chunks: string;
  readonly child_chunks: string;
  readonly document_details: string;
}

/** Two states of the same documents in a job's database. */
interface States {
  readonly documents: readonly ComparedDocument[];
  readonly old: StateRows;
  readonly new: StateRows;
  /** The history up to the older state. */
  readonly history: KnownHistory;
}

/**
 * Compares two states in a job's database by the same definitions as `compareRuns`, and makes the same tables in the current
 * schema, which must be empty.
 */
export async function compareStates(
  connection: Connection,
  { documents, history, ...states }: States,
  signal: AbortSignal,
): Promise<void> {
  await loadDocuments(connection, [states.old.document_details, states.new.document_details], documents);
  const facts = (["old", "new"] as const).flatMap((side) =>
    (["chunks", "child_chunks"] as const).map(
      (kind) => `CREATE TABLE ${side}_${kind} AS ${factsSql(kind, states[side][kind], side)}`,
    ),
  );
  for (const sql of [emptyHistory, ...editsSql(history), ...facts, addedSql(history)]) {
    signal.throwIfAborted();
    await connection.run(sql);
  }
  await findLosses(connection, signal);
}
