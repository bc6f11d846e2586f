import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text, truth } from "./parts.js";

const run = result({ folder: text, job: text, run_id: text, format: text, chunks: count, child_chunks: count });

const counts = result({
  added: count,
  removed: count,
  changed: count,
  moved: count,
  unchanged: count,
  fields: count,
  lost: count,
  lost_by_hand: count,
});

/** One document of either run. */
export const documentDiff = result({
  dataset_id: text,
  dataset_name: orNull(text),
  document_id: text,
  document_name: orNull(text),
  state: oneOf("same", "different", "removed", "added", "not_compared"),
  reindexed: truth,
  reordered: truth,
  reason: orNull(text),
  chunks: counts,
  child_chunks: counts,
});

const parts = listOf(result({ kind: oneOf("same", "removed", "added"), text, cut: count }));

/** One chunk or child chunk that differs. */
export const chunkChange = result({
  dataset_id: text,
  document_id: text,
  level: oneOf("chunk", "child_chunk"),
  kind: oneOf("added", "removed", "changed", "moved", "fields"),
  lost: truth,
  hand_made: orNull(oneOf("edited", "added", "customized")),
  old_id: orNull(text),
  new_id: orNull(text),
  old_segment_id: orNull(text),
  new_segment_id: orNull(text),
  old_position: orNull(count),
  new_position: orNull(count),
  fields: listOf(text),
  old_beginning: orNull(text),
  new_beginning: orNull(text),
  text: v.pipe(
    orNull(result({ content: orNull(parts), answer: orNull(parts) })),
    v.description("with --text, for changed chunks: the words that differ"),
  ),
});

/** The result of `kbdump diff --json`. Its documents and changes are written one by one. */
export const diffResult = result({
  status: oneOf("same", "different"),
  old: run,
  new: run,
  counts: result({
    documents: result({
      same: count,
      different: count,
      removed: count,
      added: count,
      not_compared: count,
      reindexed: count,
    }),
    chunks: counts,
    child_chunks: counts,
  }),
  warnings: listOf(text),
  documents: listOf(documentDiff),
  changes: v.pipe(orNull(listOf(chunkChange)), v.description("null with --only document")),
});

export type DiffResult = v.InferOutput<typeof diffResult>;
export type ChangeResult = v.InferOutput<typeof chunkChange>;
