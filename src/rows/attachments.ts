import { isMapping } from "../schema.js";
import type { RawRecord } from "./row.js";

/** The files in the field `attachments` of a chunk, in its order, with their ids. An entry without an id is left out. */
export function attachmentsIn(field: unknown): readonly (RawRecord & { readonly id: string })[] {
  const list: readonly unknown[] = Array.isArray(field) ? field : [];
  return list.flatMap((each) => (isMapping(each) && typeof each.id === "string" ? [{ ...each, id: each.id }] : []));
}
