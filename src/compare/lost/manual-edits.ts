import { type ChildRow, type ChunkRow, isSameSet } from "../document-rows.js";
import type { DocumentHistory } from "./evidence.js";
import type { Evidence } from "./restore-plan.js";

/** Content and answer: the part of a chunk that is its text. */
export interface Text {
  readonly content: string;
  readonly answer: string | null;
}

/**
 * The manual edits of one chunk, as far as they are known. `added`: somebody made it. `edited`: somebody changed its text, and
 * `before` is the text that this replaced. `unknown`: it was edited, and the text before is not known. `own`: the text is the indexer's.
 */
export interface ManualEdits {
  readonly origin: "added" | "edited" | "unknown" | "own";
  readonly before: Text | null;
  /** The keywords that an edit replaced; undefined where none did. */
  readonly keywordsBefore: readonly string[] | undefined;
  /** Whether somebody disabled it. */
  readonly disabled: boolean;
  /** Whether it was created after the indexing of its document was completed. */
  readonly late: boolean;
}

/** The manual edits of a chunk. `indexedAt`: when the indexing of its document was completed, in Unix seconds, if that is known. */
export function editsOf(chunk: ChunkRow, history: DocumentHistory, indexedAt: number | null): ManualEdits {
  const first = history.chunks.get(chunk.id) ?? {};
  const before = {
    content: first.content ?? chunk.content,
    answer: first.answer === undefined || chunk.answer === null ? chunk.answer : (first.answer ?? ""),
  };
  const isEdited = textKey(before) !== textKey(chunk);
  const keywordsBefore = first.keywords === undefined ? undefined : (first.keywords ?? []);
  const late = indexedAt !== null && chunk.created_at !== null && chunk.created_at > indexedAt;
  const isAdded = late || history.added.has(chunk.id);
  return {
    origin: isAdded ? "added" : isEdited ? "edited" : chunk.updated_by !== null ? "unknown" : "own",
    before: isEdited && !isAdded ? before : null,
    keywordsBefore: keywordsBefore && !isSameSet(keywordsBefore, chunk.keywords) ? keywordsBefore : undefined,
    disabled: wasDisabled(chunk) && (chunk.disabled_by !== null || first.enabled === true),
    late,
  };
}

/** Whether a fact says that a chunk has manual edits. */
export function hasManualEdits({ origin, keywordsBefore, disabled }: ManualEdits): boolean {
  return origin !== "own" || keywordsBefore !== undefined || disabled;
}

/** What is written of a chunk, and whether its place is known by its neighbours alone. */
interface Writes {
  readonly texts: boolean;
  readonly disable: boolean;
  readonly byNeighbours?: boolean;
}

/** The facts that prove what is written: that a person did it, and what stood there before. */
export function evidenceOf(
  chunk: ChunkRow,
  { before, keywordsBefore, origin, late }: ManualEdits,
  { texts, disable, byNeighbours = false }: Writes,
): readonly Evidence[] {
  const isInHistory = before !== null || keywordsBefore !== undefined || (origin === "added" && !late);
  const evidence: Evidence[] = [];
  if (texts && chunk.updated_by !== null) evidence.push("updated_by");
  if (texts && late) evidence.push("created_at");
  if (disable && chunk.disabled_by !== null) evidence.push("disabled_by");
  if ((texts && isInHistory) || (disable && chunk.disabled_by === null)) evidence.push("history");
  if (texts && byNeighbours) evidence.push("neighbours");
  return evidence;
}

/** Whether a chunk is disabled for another reason than that its indexing failed. */
export function wasDisabled({ enabled, status }: ChunkRow): boolean {
  return !enabled && status !== "error";
}

/** Whether somebody made or edited a child chunk, and the text before if the history knows it. */
export function childEditsOf(
  child: ChildRow,
  history: DocumentHistory,
): { readonly evidence: readonly Evidence[]; readonly before: string | null } {
  const first = history.children.get(child.id);
  const before = first === undefined || first === child.content ? null : first;
  const customized: readonly Evidence[] = child.type === "customized" ? ["customized"] : [];
  return { evidence: before === null ? customized : [...customized, "history"], before };
}

/** Equal for equal texts. */
export function textKey({ content, answer }: Text): string {
  return JSON.stringify([content, answer]);
}

/** Blank as the service sees it: it takes no such text. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Whether the service takes a text. */
export function isWritable({ content, answer }: Text): boolean {
  return !isBlank(content) && (answer === null || !isBlank(answer));
}
