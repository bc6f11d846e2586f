import * as v from "valibot";
import { isMapping } from "../schema.js";

/** A record as the service sent it. It is only known to be an object. */
export type RawRecord = Readonly<Record<string, unknown>>;

/** A row: the columns of its kind, in order. Times are ISO strings; other values are as in JSON. */
export type Row = Readonly<Record<string, unknown>>;

/** A row that kbdump wrote. Checks only that it is an object. */
export const rowSchema = v.custom<Row>(isMapping, "an object");

/** The result of one document, as a row of `documents`. */
export type DocumentRow = {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly doc_form: string | null;
  readonly status: "complete" | "unstable" | "failed";
  /** Chunks according to the service; null if it sent no total. */
  readonly total: number | null;
  readonly chunk_count: number;
  readonly child_chunk_count: number;
  /** How often the document was read. */
  readonly sweeps: number;
  readonly error: string | null;
} & Row;

/** The key that identifies a document within a run. */
export function documentKey(row: { readonly dataset_id?: unknown; readonly document_id?: unknown }): string {
  return JSON.stringify([row.dataset_id, row.document_id]);
}

/** The files in a chunk's field `attachments`, in order, with their ids. Entries without an id are left out. */
export function attachmentsIn(field: unknown): readonly (RawRecord & { readonly id: string })[] {
  const list: readonly unknown[] = Array.isArray(field) ? field : [];
  return list.flatMap((each) => (isMapping(each) && typeof each.id === "string" ? [{ ...each, id: each.id }] : []));
}
