import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text, truth } from "../schema.js";

/** One of the two runs, and the format that was read. */
const diffedRun = result({ folder: text, job: text, run_id: text, format: text, chunks: count, child_chunks: count });
export type DiffedRun = v.InferOutput<typeof diffedRun>;

/** Chunks, or child chunks: `added`, `removed`, `changed`, `moved` and `unchanged` are all there are, each counted once. */
const changeCounts = result({
  added: count,
  removed: count,
  /** Rows with another content or answer. */
  changed: count,
  /** Rows with the same content and answer at another position. */
  moved: count,
  unchanged: count,
  /** Rows of both runs with other keywords, enabled, status, error, summary, attachments, type or extra. */
  fields: count,
  /** Rows of the old run that are lost: see the guide to restoring. */
  lost: count,
  /** Lost rows that a person had made, edited or disabled, as a fact says. */
  manual_edits: count,
});
export type ChangeCounts = v.InferOutput<typeof changeCounts>;

/** One document of either run. */
const documentDiff = result({
  dataset_id: text,
  /** Null where neither run listed the documents. */
  dataset_name: orNull(text),
  document_id: text,
  document_name: orNull(text),
  /**
   * `removed`: only the old run has it; `added`: only the new one. `not_compared`: one of the runs failed to read it, or it moved
   * while it was read, so that its rows prove nothing.
   */
  state: oneOf("same", "different", "removed", "added", "not_compared"),
  /** Whether every chunk has a new id. */
  reindexed: truth,
  /** Whether chunks of the same content stand in another order; else those that moved did so because others came or went. */
  reordered: truth,
  /** Why it is not compared, or what else is to be known. */
  reason: orNull(text),
  chunks: changeCounts,
  child_chunks: changeCounts,
});
export type DocumentDiff = v.InferOutput<typeof documentDiff>;
export type DocumentState = DocumentDiff["state"];

/** Documents by state, and those of whose chunks every one has a new id. */
const documentCounts = result({
  same: count,
  different: count,
  removed: count,
  added: count,
  not_compared: count,
  reindexed: count,
});
export type DocumentCounts = v.InferOutput<typeof documentCounts>;

/** A piece of a text. What is long is cut: `cut` is the number of characters that are left out where `…` stands. */
const textPart = result({ kind: oneOf("same", "removed", "added"), text, cut: count });
export type TextPart = v.InferOutput<typeof textPart>;

/** One chunk or child chunk that differs. `old_…` is null for what was added, `new_…` for what was removed. */
const chunkChange = result({
  dataset_id: text,
  document_id: text,
  level: oneOf("chunk", "child_chunk"),
  /** `fields`: only the named fields differ. */
  kind: oneOf("added", "removed", "changed", "moved", "fields"),
  /** The row of the old run is lost: its id is gone, and no new row has its text, or what a person had set. */
  lost: truth,
  /** The work of a person on a lost row, as a fact says; null without such a fact. */
  manual_edit: orNull(oneOf("edited", "added", "disabled", "customized")),
  old_id: orNull(text),
  new_id: orNull(text),
  /** The parents of a child chunk. */
  old_segment_id: orNull(text),
  new_segment_id: orNull(text),
  old_position: orNull(count),
  new_position: orNull(count),
  /** Names of the columns that differ beside content and answer. */
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

/** A change before it is printed, with the words that differ where they were asked for. */
export interface ChunkChange extends Omit<ChangeResult, "text"> {
  readonly text?: TextDiff;
}

/** Undefined: that column is the same. */
export interface TextDiff {
  readonly content?: readonly TextPart[];
  readonly answer?: readonly TextPart[];
}

/** The differences between two dumps. Texts may hold anything that a service sends: not safe for a terminal. */
const runDiff = result({
  status: oneOf("same", "different"),
  /** Chunks and child chunks of the old run that are lost, and those of them with manual edits. */
  lost: count,
  manual_edits: count,
  old: diffedRun,
  new: diffedRun,
  counts: result({ documents: documentCounts, chunks: changeCounts, child_chunks: changeCounts }),
  /** Reasons why the comparison may be less complete than it seems. */
  warnings: listOf(text),
  /** Every document of either run: those of the old one in its order, then those that only the new one has. */
  documents: listOf(documentDiff),
});
export type RunDiff = v.InferOutput<typeof runDiff>;

/** The result of `kbdump diff --json`. Its documents and changes are written one by one. */
export const diffResult = result({
  ...runDiff.entries,
  changes: v.pipe(orNull(listOf(chunkChange)), v.description("null with --only document")),
});
