import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text, truth } from "../../schema.js";
/**
 * The plan of a restore: which rows of an older run are missing from the target, and the writes that restore them. A plan is
 * data and sends nothing. Texts may contain anything the service sends, so they are not safe to print to a terminal.
 */

export const level = oneOf("chunk", "child_chunk");
export const position = orNull(count);

/**
 * The evidence that a person made or changed a row, and that its place is known. `created_at`: it was created after the indexing of
 * its document was completed. `history`: the job's database has the text before the edit. `neighbours`: it was between the same two chunks,
 * in a document of the same file and process rule. `chosen`: there is no evidence, but the owner named the row.
 */
const evidence = oneOf("updated_by", "created_at", "disabled_by", "customized", "history", "neighbours", "chosen");
export type Evidence = v.InferOutput<typeof evidence>;

/** A person's work on a row, and who did it. */
const manualEdit = result({
  kind: oneOf("edited", "added", "disabled", "customized"),
  by: v.pipe(orNull(text), v.description("the account, as the service names it; null if it does not say")),
  at: v.pipe(orNull(text), v.description("ISO 8601, UTC; null if the service does not say")),
});
export type ManualEdit = v.InferOutput<typeof manualEdit>;

/** The parts of a chunk that a request can write; the answer is null except in qa_model documents. */
const chunkTexts = result({ content: text, answer: orNull(text), keywords: orNull(listOf(text)) });
export type ChunkTexts = v.InferOutput<typeof chunkTexts>;

/** A chunk of the target when the plan was made. The status is completed, error or another value. */
const targetChunk = result({ ...chunkTexts.entries, id: text, position, enabled: truth, status: orNull(text) });
export type TargetChunk = v.InferOutput<typeof targetChunk>;

/** One child chunk to restore, inside the chunk that lists it. */
const childRestore = result({
  /** Id and position in the older run. */
  child_id: text,
  position,
  edit: manualEdit,
  evidence: listOf(evidence),
  content: text,
  twin: v.pipe(
    orNull(result({ id: text, content: text })),
    v.description("the child chunk that it replaces; null: it is added"),
  ),
});
export type ChildRestore = v.InferOutput<typeof childRestore>;

/** The writes that restore one chunk: first its texts, then its children, then its disabled state. */
const chunkRestore = result({
  /** Id and position in the older run. */
  chunk_id: text,
  position,
  edit: v.pipe(orNull(manualEdit), v.description("null: only its child chunks were edited, or the owner chose it")),
  evidence: listOf(evidence),
  target: v.pipe(
    orNull(targetChunk),
    v.description("the chunk that gets the texts, as it was when the plan was made; null: one is added at the end"),
  ),
  /** Null only if `target` is a chunk that has the texts already. */
  texts: v.pipe(orNull(chunkTexts), v.description("the texts to write; null: they are there already")),
  /** If more chunks of the target have these texts at the time of the write, nothing is added. */
  equal: v.pipe(count, v.description("chunks of the target that have these texts already")),
  /** Whether to disable the chunk after the other writes. */
  disable: truth,
  children: listOf(childRestore),
});
export type ChunkRestore = v.InferOutput<typeof chunkRestore>;

/** A lost row that needs the owner's decision. */
const listedLoss = result({
  level,
  id: text,
  /** The parent of a child chunk in the older run. */
  segment_id: orNull(text),
  position,
  edit: v.pipe(orNull(manualEdit), v.description("null: there is no evidence that a person made it")),
  /**
   * `needs your decision`: its place is unknown, or the text there was edited later. `found inside`: its text occurs inside a chunk of
   * the target. `cannot be restored`: the service accepts no such row. `left out`: the plan file says no.
   */
  why: oneOf("needs your decision", "found inside", "cannot be restored", "left out"),
  /** A sentence that says why the row needs a decision or is not restored. */
  reason: text,
  content: text,
  /** Null except in qa_model documents. */
  answer: orNull(text),
  /** The text that the target now has where the row would go; null if that place is unknown. */
  now: orNull(text),
  now_answer: v.pipe(orNull(text), v.description("the answer there; null except in qa_model documents")),
  choice: v.pipe(
    orNull(oneOf("replace", "add")),
    v.description("what `restore: yes` in a plan file does with it; null: nothing can"),
  ),
});
export type ListedLoss = v.InferOutput<typeof listedLoss>;
export type WhyListed = ListedLoss["why"];

/** A part of a row that no request can restore, although its text is restored. */
const knownLoss = result({
  level,
  id: text,
  position,
  part: oneOf("keywords", "attachments", "summary"),
  reason: text,
});
export type KnownLoss = v.InferOutput<typeof knownLoss>;

const documentPlan = result({
  dataset_id: text,
  document_id: text,
  document_name: orNull(text),
  doc_form: orNull(text),
  /** Lost chunks and child chunks, and how many of them have manual edits. */
  lost: count,
  manual_edits: count,
  /** A full sentence, or null. A refused document has no restores. */
  refused: v.pipe(orNull(text), v.description("why nothing may be written to this document")),
  /** In the order of the older run. */
  restores: listOf(chunkRestore),
  listed: v.pipe(listOf(listedLoss), v.description("lost rows with manual edits that are left alone, and why")),
  losses: v.pipe(listOf(knownLoss), v.description("parts that no request can restore")),
  /** Rows with manual edits that are not lost. */
  present: count,
});
export type DocumentPlan = v.InferOutput<typeof documentPlan>;

/** Every document that lost something, has manual edits, or was named, in the order of the older run. */
export const restorePlan = result({ documents: listOf(documentPlan) });
export type RestorePlan = v.InferOutput<typeof restorePlan>;

/** The counts of a plan's rows. */
export const planCounts = result({
  /** Chunks and child chunks to write. */
  rows: count,
  chunks_updated: count,
  chunks_added: count,
  chunks_disabled: count,
  children_replaced: count,
  children_added: count,
  /** Minimum number of write requests. */
  writes: count,
  /** Characters that the service embeds again. */
  characters: count,
});
export type PlanCounts = v.InferOutput<typeof planCounts>;

/** Adds up the plan's writes. A chunk counts as a row only if its own texts or state are written, not just its children. */
export function countPlan({ documents }: RestorePlan): PlanCounts {
  const chunks = documents.flatMap(({ restores }) => restores);
  const children = chunks.flatMap((chunk) => chunk.children);
  const written = chunks.filter(({ texts }) => texts !== null);
  const disabled = chunks.filter(({ disable }) => disable).length;
  const touched = chunks.filter(({ texts, disable }) => texts !== null || disable).length;
  const added = written.filter(({ target }) => target === null).length;
  const replaced = children.filter(({ twin }) => twin !== null).length;
  const texts = [...written.flatMap(({ texts }) => (texts ? [texts.content, texts.answer ?? ""] : []))];
  return {
    rows: touched + children.length,
    chunks_updated: written.length - added,
    chunks_added: added,
    chunks_disabled: disabled,
    children_replaced: replaced,
    children_added: children.length - replaced,
    writes: written.length + disabled + children.length,
    characters: sumOf([...texts, ...children.map(({ content }) => content)].map((text) => [...text].length)),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** Whether a row needs the owner's decision, which makes a restore without it partial. */
export function isMissed({ why }: ListedLoss): boolean {
  return why === "needs your decision" || why === "cannot be restored";
}

export interface TargetDocument {
  readonly dataset_id: string;
  readonly document_id: string;
}

/** Why nothing may be written to a document. */
export interface Refusal {
  /** A full sentence, for messages. */
  readonly reason: string;
  /** Whether its rows can still be read and compared: then the document is refused only if it has lost rows. */
  readonly isReadable: boolean;
}

/** Refusals by the `documentKey` of their documents. */
export type Refusals = ReadonlyMap<string, Refusal>;
