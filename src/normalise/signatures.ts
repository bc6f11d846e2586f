const separator = String.raw`(?:\?|&amp;|&(?!\w+;))+`; // but not an entity such as &nbsp;
const signature = String.raw`(?:timestamp|nonce|sign)=[\w=%+/-]*`;
/** Characters of a path, and of a parameter of the link's own. */
const own = String.raw`[\w=%+/.~-]`;

/**
 * A link to a file of the service and its query, `/files/<id>/file-preview?timestamp=…`, wherever it stands in a text. It
 * ends where its last parameter does: the full stop, the bracket or the Chinese text behind it are no part of it.
 */
const fileLink = new RegExp(
  String.raw`/files/${own}{1,200}(?=\?)(?:${separator}(?:${signature}(?:${own}+(?=${separator}${own}))?|${own}+))+`,
  "g",
);

/** Signatures in a row, with the separator before them and the one before the link's own parameter that follows. */
const signatures = new RegExp(`(${separator})${signature}(?:${separator}${signature})*(${separator}(?=${own}))?`, "g");

/** The text with `timestamp`, `nonce` and `sign` taken out of links to files; everything else stays as it is. */
export function withoutSignatures(text: string): string {
  if (!text.includes("/files/")) return text;
  return text.replace(fileLink, (link) =>
    link.replace(signatures, (_all, before: string, behind = "") => (behind && before.startsWith("?") ? "?" : behind)),
  );
}

/** The same for every string in a JSON value. */
export function withoutSignaturesIn(value: unknown): unknown {
  if (typeof value === "string") return withoutSignatures(value);
  if (Array.isArray(value)) return value.map(withoutSignaturesIn);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutSignaturesIn(item)]));
}
