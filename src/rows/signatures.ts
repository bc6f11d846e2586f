import type { RawRecord } from "./row.js";

/**
 * A signature exactly as the service writes it, right behind the path of a link to a file. Releases that build the query
 * with a library escape the last character. No separator follows: what stands behind it is text, whatever it looks like.
 */
const signature = String.raw`\?timestamp=\d{10}&nonce=[0-9a-f]{32}&sign=[\w-]{43}(?:=|%3D)`;

/** Characters of a path. Their number is bounded, so that the time grows with the text and not with its square. */
const path = String.raw`[\w%+.~/-]`;

/** `/files/<id>/file-preview?timestamp=…` and all that follow in the same path, so that a second pass finds nothing more. */
const signedLink = new RegExp(`/files/${path}{1,200}${signature}(?:${path}{0,200}${signature})*`, "g");

const signatures = new RegExp(signature, "g");

/** The text without the signatures of its links to files. Everything else stays as it is, to the character. */
export function withoutSignatures(text: string): string {
  if (!text.includes("/files/")) return text;
  return text.replace(signedLink, (link) => link.replace(signatures, ""));
}

/** The same for every field of a record. */
export function recordWithoutSignatures(record: RawRecord): RawRecord {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, withoutSignaturesIn(value)]));
}

/** The same for every string in a JSON value. */
export function withoutSignaturesIn(value: unknown): unknown {
  if (typeof value === "string") return withoutSignatures(value);
  if (Array.isArray(value)) return value.map(withoutSignaturesIn);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutSignaturesIn(item)]));
}
