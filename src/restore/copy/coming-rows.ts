import type { ChildRow, ChunkRow, ChunkWithChildren, DocumentId } from "../../compare/document-rows.js";
import { loadDocumentIds } from "../../compare/load-document-rows.js";
import type { Connection } from "../../duckdb/open-duckdb.js";

/**
 * Whether a chunk can come: the service refuses a chunk without content, and in qa_model documents one without an answer (400 of
 * POST segments). Plan, writes and proof all go by this.
 */
export function canCome({ content, answer }: Pick<ChunkRow, "content" | "answer">, docForm: string | null): boolean {
  if (content.trim() === "") return false;
  return docForm !== "qa_model" || (answer ?? "").trim() !== "";
}

/** The same for a child chunk. */
export function childCanCome({ content }: Pick<ChildRow, "content">): boolean {
  return content.trim() !== "";
}

/** The chunks of a document that can come, with the child chunks that can. */
export async function* comingChunks(
  chunks: AsyncIterable<ChunkWithChildren>,
  docForm: string | null,
): AsyncGenerator<ChunkWithChildren> {
  for await (const chunk of chunks)
    if (canCome(chunk, docForm)) yield { ...chunk, children: chunk.children.filter(childCanCome) };
}

/** SQL: whether a text is empty but for what `trim` of JavaScript takes away. */
const isBlank = (text: string) => `regexp_full_match(coalesce(${text}, ''), '[\\t-\\r \\x{FEFF}\\p{Z}]*')`;

/** Drops the rows that cannot come from the tables of `loadDocumentRows`. A child chunk comes only with its chunk. */
export async function keepComing(
  connection: Connection,
  name: string,
  documents: readonly (DocumentId & { readonly form: string })[],
): Promise<void> {
  const questions = documents.filter(({ form }) => form === "qa_model");
  await loadDocumentIds(connection, `${name}_questions`, questions);
  const ids = "dataset_id, document_id";
  await connection.run(`DELETE FROM ${name}_chunks WHERE ${isBlank("content")}
      OR (${isBlank("answer")} AND (${ids}) IN (SELECT (${ids}) FROM ${name}_questions));
    DELETE FROM ${name}_child_chunks WHERE ${isBlank("content")}
      OR row NOT IN (SELECT k.row FROM ${name}_child_chunks k SEMI JOIN ${name}_chunks c
        ON c.dataset_id = k.dataset_id AND c.document_id = k.document_id AND c.id = k.segment_id)`);
}
