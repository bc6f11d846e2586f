import type { Row } from "./row.js";

/** The result of one document, as a row of `documents`. */
export type DocumentRow = {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly doc_form: string | null;
  readonly status: "complete" | "unstable" | "failed";
  /** Chunks that the service counts; null when it never said. */
  readonly total: number | null;
  readonly chunk_count: number;
  readonly child_chunk_count: number;
  /** Times that the document was read. */
  readonly sweeps: number;
  readonly error: string | null;
} & Row;

/** Gives the key that tells a document from all others of a run. */
export function documentKey(row: { readonly dataset_id?: unknown; readonly document_id?: unknown }): string {
  return JSON.stringify([row.dataset_id, row.document_id]);
}
