/** The reach of a refusal: this row for now, this row for good, its document, or every request with this key. */
export type RefusalMeaning = "busy" | "row" | "document" | "key";

/** Reads the service's own words: it has no code for these. */
export function meaningOf({ status, message }: { readonly status: number; readonly message: string }): RefusalMeaning {
  if (status === 401 || status === 403) return "key";
  if (/^segment is indexing/i.test(message)) return "busy";
  return /^(document|dataset|knowledge base)\b/i.test(message) ? "document" : "row";
}
