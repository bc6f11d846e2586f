import type { ChildRow, ChunkRow } from "../restore/document-rows.js";

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
