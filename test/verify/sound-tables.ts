import { columns, type Kind } from "../../src/rows/columns.js";
import type { Row } from "../../src/rows/row.js";
import type { Tables } from "../dump/formats/stage.js";

/** A row of a kind with these values; all other columns are null. */
export function rowOf(kind: Kind, given: Row): Row {
  return Object.fromEntries(columns[kind].map(({ name }) => [name, given[name] ?? null]));
}

export const chunk = (document_id: string, id: string, more: Row = {}) =>
  rowOf("chunks", { dataset_id: "d", document_id, id, position: 1, content: `text of ${id}`, ...more });

export const child = (document_id: string, segment_id: string, id: string, more: Row = {}) =>
  rowOf("child_chunks", { dataset_id: "d", document_id, segment_id, id, position: 1, content: "text", ...more });

export const document = (document_id: string, chunks: number, children: number, more: Row = {}) =>
  rowOf("documents", {
    dataset_id: "d",
    document_id,
    doc_form: "text_model",
    status: "complete",
    total: chunks,
    chunk_count: chunks,
    child_chunk_count: children,
    sweeps: 1,
    ...more,
  });

export const info = (document_id: string, more: Row = {}) =>
  rowOf("document_info", { dataset_id: "d", document_id, name: `${document_id}.md`, archived: false, ...more });

export const settings = (dataset_id: string, more: Row = {}) =>
  rowOf("datasets", { dataset_id, name: `dataset ${dataset_id}`, ...more });

export const details = (document_id: string, more: Row = {}) =>
  rowOf("document_details", { dataset_id: "d", document_id, name: `${document_id}.md`, ...more });

/** Two documents: `a` with two chunks, the first of which has two children, and `b` with one chunk. */
export const soundTables: Tables = {
  chunks: [chunk("a", "a1"), chunk("a", "a2"), chunk("b", "b1")],
  child_chunks: [child("a", "a1", "k1"), child("a", "a1", "k2")],
  documents: [document("a", 2, 2), document("b", 1, 0)],
  indexing_status: [
    rowOf("indexing_status", { captured_at: "2025-03-06T13:20:00Z", dataset_id: "d", batch: "2025", document_id: "a" }),
  ],
  metadata_fields: [rowOf("metadata_fields", { dataset_id: "d", position: 1, name: "author", type: "string" })],
};
