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
  /** A guess: it was created long after the document was indexed. */
  readonly late: boolean;
}

/** The manual edits of a chunk. `latest`: the time of `latestIndexed`. */
export function editsOf(chunk: ChunkRow, history: DocumentHistory, latest: number): ManualEdits {
  const first = history.chunks.get(chunk.id) ?? {};
  const before = {
    content: first.content ?? chunk.content,
    answer: first.answer === undefined || chunk.answer === null ? chunk.answer : (first.answer ?? ""),
  };
  const isEdited = textKey(before) !== textKey(chunk);
  const keywordsBefore = first.keywords === undefined ? undefined : (first.keywords ?? []);
  const isAdded = history.added.has(chunk.id);
  return {
    origin: isAdded ? "added" : isEdited ? "edited" : chunk.updated_by !== null ? "unknown" : "own",
    before: isEdited && !isAdded ? before : null,
    keywordsBefore: keywordsBefore && !isSameSet(keywordsBefore, chunk.keywords) ? keywordsBefore : undefined,
    disabled: wasDisabled(chunk) && (chunk.disabled_by !== null || first.enabled === true),
    late: chunk.created_at !== null && chunk.created_at > latest,
  };
}

/** Whether a chunk has manual edits, even if that is a guess. */
export function hasManualEdits({ origin, keywordsBefore, disabled, late }: ManualEdits): boolean {
  return origin !== "own" || keywordsBefore !== undefined || disabled || late;
}

/** The proof for what is written: texts that the history knows, or that the chunk is disabled. */
export function evidenceOf(
  chunk: ChunkRow,
  writes: { readonly texts: boolean; readonly disable: boolean },
): readonly Evidence[] {
  const evidence: Evidence[] = [];
  if (writes.texts && chunk.updated_by !== null) evidence.push("updated_by");
  if (writes.disable && chunk.disabled_by !== null) evidence.push("disabled_by");
  if (writes.texts || (writes.disable && chunk.disabled_by === null)) evidence.push("history");
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

/**
 * The time from when on a chunk is taken for made by hand: long after the indexing went by the half of the chunks. Unix seconds;
 * diff guesses the same.
 */
export function latestIndexed(chunks: readonly Pick<ChunkRow, "created_at">[]): number {
  const times = chunks.flatMap(({ created_at }) => (created_at === null ? [] : [created_at])).sort((a, b) => a - b);
  const [first, middle] = [times[0], times[Math.ceil(times.length / 2) - 1]];
  return first === undefined || middle === undefined ? Number.POSITIVE_INFINITY : first + 3 * (middle - first) + 60;
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
