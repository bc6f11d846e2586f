import type { Row } from "./row-from-record.js";

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
