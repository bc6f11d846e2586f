/** What tells a document from all others of a run. */
export function documentKey(row: { readonly dataset_id?: unknown; readonly document_id?: unknown }): string {
  return JSON.stringify([row.dataset_id, row.document_id]);
}
