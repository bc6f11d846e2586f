import { hash } from "node:crypto";

/**
 * Texts of more than 64 bytes are compared by their SHA-256: what is read stays small, also where DuckDB reads it. The hash is
 * that of the text without an apostrophe that `csv_safe` may have put before it; the apostrophe stands before the hash instead.
 */
const longest = 64;
const formula = "[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20]";
const guarded = new RegExp(`^'(?=${formula})`);

/** A text as it is, or what stands for it if it is long. */
export function shortText(text: string): string {
  if (Buffer.byteLength(text) <= longest) return text;
  return guarded.test(text) ? `'=sha256:${hash("sha256", text.slice(1))}` : `=sha256:${hash("sha256", text)}`;
}

/** SQL: the same. */
export function shortTextSql(column: string): string {
  return `CASE WHEN strlen(${column}) <= ${longest} THEN ${column}
    WHEN regexp_matches(${column}, '^''${formula}') THEN '''=sha256:' || sha256(${column}[2:])
    ELSE '=sha256:' || sha256(${column}) END`;
}

/** A text, or what stands for it, without the apostrophe of `csv_safe`. */
export function unguardedText(text: string): string {
  return text.startsWith("'") ? text.replace(guarded, "") : text;
}
