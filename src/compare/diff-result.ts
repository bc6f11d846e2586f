import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text, truth } from "../schema.js";

/** One of the two compared runs, and the format in which it is read. */
const diffedRun = result({ folder: text, job: text, run_id: text, format: text, chunks: count, child_chunks: count });
export type DiffedRun = v.InferOutput<typeof diffedRun>;

/**
 * Counts of chunks or child chunks, in the order of the CSV. Each row counts in one of `added`, `removed`, `changed`, `moved`,
 * `unchanged`.
 */
export const changeCounts = result({
  added: count,
  removed: count,
  /** Rows with a different content or answer. */
  changed: count,
  /** Rows with the same content and answer at a different position. */
  moved: count,
  unchanged: count,
  /** Rows in both runs with different keywords, enabled, status, error, summary, attachments, type or extra. */
  fields: count,
  /** Rows of the old run that are lost: see the guide to restoring. */
  lost: count,
  /** Lost rows with evidence that a person added, edited or disabled them. */
  manual_edits: count,
});
export type ChangeCounts = v.InferOutput<typeof changeCounts>;

/** A document in one or both runs. */
const documentDiff = result({
  dataset_id: text,
  /** Null if neither run listed the documents. */
  dataset_name: orNull(text),
  document_id: text,
  document_name: orNull(text),
  /**
   * `removed`: only in the old run; `added`: only in the new run. `not_compared`: one of the runs failed to read it, or it changed during
   * the read, so its rows prove nothing.
   */
  state: oneOf("same", "different", "removed", "added", "not_compared"),
  /** Whether every chunk has a new id. */
  reindexed: truth,
  /** Whether chunks with the same content changed their order. If false, chunks moved only because others were added or removed. */
  reordered: truth,
  /** Why it is not compared, or another note. */
  reason: orNull(text),
  chunks: changeCounts,
  child_chunks: changeCounts,
});
export type DocumentDiff = v.InferOutput<typeof documentDiff>;
export type DocumentState = DocumentDiff["state"];

/** The number of documents by state, and of documents whose chunks all have new ids. */
const documentCounts = result({
  same: count,
  different: count,
  removed: count,
  added: count,
  not_compared: count,
  reindexed: count,
});
export type DocumentCounts = v.InferOutput<typeof documentCounts>;

/** A piece of a text. Long pieces are shortened: `cut` is the number of characters replaced by `…`. */
const textPart = result({ kind: oneOf("same", "removed", "added"), text, cut: count });
export type TextPart = v.InferOutput<typeof textPart>;

/** A chunk or child chunk that differs, with the columns of the CSV in order. `old_…` is null for an added row, `new_…` for a removed row. */
export const chunkChange = result({
  dataset_id: text,
  document_id: text,
  level: oneOf("chunk", "child_chunk"),
  /** `fields`: only the named fields differ. */
  kind: oneOf("added", "removed", "changed", "moved", "fields"),
  /** The row of the old run is lost: its id is gone, and no new row has its text or the person's settings. */
  lost: truth,
  /** The evidence of a person's work on a lost row; null without evidence. */
  manual_edit: orNull(oneOf("edited", "added", "disabled", "customized")),
  old_id: orNull(text),
  new_id: orNull(text),
  /** The parents of a child chunk. */
  old_segment_id: orNull(text),
  new_segment_id: orNull(text),
  old_position: orNull(count),
  new_position: orNull(count),
  /** Names of the other columns that differ, besides content and answer. */
  fields: listOf(text),
  /** The first 160 characters of the content. */
  old_beginning: orNull(text),
  new_beginning: orNull(text),
  text: v.pipe(
    orNull(result({ content: orNull(listOf(textPart)), answer: orNull(listOf(textPart)) })),
    v.description("with --text, for changed chunks: the words that differ"),
  ),
});
export type ChangeResult = v.InferOutput<typeof chunkChange>;
export type ChangeKind = ChangeResult["kind"];
export type ManualEdit = NonNullable<ChangeResult["manual_edit"]>;

/** A change before it is printed, with the differing words if requested. */
export interface ChunkChange extends Omit<ChangeResult, "text"> {
  readonly text?: TextDiff;
}

/** Undefined: the column did not change. */
export interface TextDiff {
  readonly content?: readonly TextPart[];
  readonly answer?: readonly TextPart[];
}

/** The differences between two dumps. Texts may contain anything the service sends, so they are not safe to print to a terminal. */
const runDiff = result({
  status: oneOf("same", "different"),
  /** Lost chunks and child chunks of the old run, and how many of them have manual edits. */
  lost: count,
  manual_edits: count,
  old: diffedRun,
  new: diffedRun,
  counts: result({ documents: documentCounts, chunks: changeCounts, child_chunks: changeCounts }),
  /** Reasons why the comparison may be less complete than it seems. */
  warnings: listOf(text),
  /** Every document of either run: the old run's documents in order, then documents only in the new run. */
  documents: listOf(documentDiff),
});
export type RunDiff = v.InferOutput<typeof runDiff>;

/** The result of `kbdump diff --json`. Documents and changes are written one at a time. */
export const diffResult = result({
  ...runDiff.entries,
  changes: v.pipe(orNull(listOf(chunkChange)), v.description("null with --only document")),
});
