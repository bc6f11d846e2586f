import { namesWith } from "../rows/columns.js";

/** The kinds whose rows are matched from one dump to another. */
export type MatchedKind = "chunks" | "child_chunks";

/**
 * SQL: what stands for the content of a row, 128 bits of its SHA-256 as a UUID, which DuckDB keeps in 16 bytes. Of a chunk it is
 * taken over content and answer, of a child chunk over its content; null is not the empty string. Never null.
 */
export function fingerprintSql(kind: MatchedKind): string {
  const parts = namesWith(kind, "content").map((column) => `coalesce(strlen(${column}) || ':' || ${column}, '-')`);
  return `left(sha256(${parts.join(" || ")}), 32)::UUID`;
}
