import { hash } from "node:crypto";

/**
 * Texts of more than 64 bytes are compared by their SHA-256: what is read stays small, also where DuckDB reads it. The hash is
 * that of the text without an apostrophe that `csv_safe` may have put before it; the apostrophe stands before the hash instead.
 * It does not count for the length, either: a text of 64 bytes would be long with it, and short without.
 */
const longest = 64;
const formula = "[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20]";
const guarded = new RegExp(`^'(?=${formula})`);

/** A text as it is, or what stands for it if it is long. */
export function shortText(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= longest) return text;
  if (!guarded.test(text)) return `=sha256:${hash("sha256", text)}`;
  return bytes <= longest + 1 ? text : `'=sha256:${hash("sha256", text.slice(1))}`;
}

/** Whether something stands for a text that is long. */
export function isShortened(text: string): boolean {
  return /^'?=sha256:/.test(text);
}

/** SQL: the same as `shortText`. */
export function shortTextSql(column: string): string {
  return `CASE WHEN strlen(${column}) <= ${longest} THEN ${column}
    WHEN regexp_matches(${column}, '^''${formula}')
      THEN CASE WHEN strlen(${column}) <= ${longest + 1} THEN ${column} ELSE '''=sha256:' || sha256(${column}[2:]) END
    ELSE '=sha256:' || sha256(${column}) END`;
}

/** A text, or what stands for it, without the apostrophe of `csv_safe`. */
export function unguardedText(text: string): string {
  return text.startsWith("'") ? text.replace(guarded, "") : text;
}
