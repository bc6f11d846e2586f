import * as v from "valibot";
import { count, listOf, oneOf, text } from "../schema.js";

const textOrNull = v.nullable(text);

/** The first line of a restore or a copy, with its run and service. Each process that continues it adds another. */
const begun = v.object({
  kind: v.literal("begun"),
  run_id: text,
  base_url: text,
  /** The folder of the dump made before the following writes; null for a copy. */
  undo: textOrNull,
  time: text,
});

/** `document_id` is the id in the run; for writes that restore lost rows, it is the same at the service. */
const intent = v.object({
  kind: v.literal("intent"),
  number: count,
  /** A chunk that was stored but not indexed is touched, which changes its text slightly, and then repaired. */
  write: oneOf(
    ...(["create dataset", "create field", "set built-in fields", "create tag", "bind tags"] as const),
    ...(["create document", "delete document", "set metadata", "set status", "upload file"] as const),
    ...(["add chunks", "update chunk", "disable chunk", "touch chunk", "repair chunk", "delete chunk"] as const),
    ...(["add child", "update child", "delete child"] as const),
  ),
  /** For a copy, the dataset key in the plan. */
  dataset_id: text,
  /** Null for writes to a dataset. */
  document_id: textOrNull,
  /** Id in the run of the original: a dataset, document, chunk, child chunk or attachment; or the name of a field or tag. */
  old_id: textOrNull,
  /** Id at the service of the changed object; null if the write makes one. */
  target_id: textOrNull,
  /** The parent chunk at the service, for a child chunk. */
  parent_id: textOrNull,
  /** The name of the new object; null if it has none. */
  name: textOrNull,
  /** For added chunks of a copy: the number of chunks before them in the document, and how many are added. */
  first: v.nullable(count),
  rows: v.nullable(count),
  /** SHA-256 of the new texts of a lost row, or of a child; null if they do not change. */
  texts_sha256: textOrNull,
  /** SHA-256 of its new keywords; null if the service chooses them. */
  keywords_sha256: textOrNull,
  /** Ids of the rows that have the same texts before the write. */
  equal: listOf(text),
  method: text,
  path: text,
  /** SHA-256 of the body. */
  sha256: text,
  time: text,
});

/** Recorded right before a write is sent; without this line, it was not sent. Recorded again if the service asks to retry later. */
const sent = v.object({ kind: v.literal("sent"), number: count, time: v.pipe(text, v.isoTimestamp("a time")) });

/** The outcome of a write. A later line with the same number replaces it. */
const outcome = v.object({
  kind: v.literal("outcome"),
  number: count,
  outcome: oneOf("done", "refused", "not done"),
  /** Ids at the service of the rows made or changed, in order. */
  ids: listOf(text),
  batch: textOrNull,
  /** Whether the service indexed a lost row. A chunk that it did not index is disabled and has the status error. */
  indexed: v.nullable(v.boolean("true or false")),
  time: text,
});

/** The dataset of the service that the owner named for documents of the run. `dataset_id` is its key in the plan. */
const adopted = v.object({ kind: v.literal("adopted"), dataset_id: text, id: text, name: text, time: text });

/** A document whose copy is complete, or that a restore finished before another document. */
const restored = v.object({ kind: v.literal("restored"), document_id: text, time: text });

/** A document whose copy is gone and is made again: its id in the run. */
const forgotten = v.object({ kind: v.literal("forgotten"), old_id: text, time: text });

/** A chunk at the service that must no longer be repaired: it is gone, or someone changed its text. */
const given = v.object({ kind: v.literal("given up"), id: text, time: text });

/** The end of a restore, or of a copy that another one follows. */
const end = v.object({ kind: v.literal("end"), time: text });

/** Any line of a journal. Fields that do not apply to a write are null. Texts are recorded as hashes only. */
export const lineSchema = v.variant(
  "kind",
  [begun, intent, sent, outcome, adopted, restored, forgotten, given, end],
  "begun, intent, sent, outcome, adopted, restored, forgotten, given up or end",
);

/** Default facts of a write: members that do not apply are null. */
export const emptyFacts = {
  ...{ document_id: null, old_id: null, target_id: null, parent_id: null, name: null, first: null, rows: null },
  ...{ texts_sha256: null, keywords_sha256: null, equal: [] },
};

export type JournalLine = v.InferOutput<typeof lineSchema>;
export type Intent = Readonly<v.InferOutput<typeof intent>>;
export type Write = Intent["write"];
export type Outcome = Readonly<v.InferOutput<typeof outcome>>;

export type WriteRequest = Pick<Intent, "method" | "path" | "sha256">;

/** The facts of a write in the journal, apart from its request. Missing ones do not apply. */
export type WriteFacts = Pick<Intent, "write" | "dataset_id"> &
  Partial<Omit<Intent, "kind" | "number" | "time" | keyof WriteRequest>>;

/** What a write made or changed, as its outcome line records it. */
export type Made = Pick<Outcome, "ids" | "batch"> & { readonly isIndexed: Outcome["indexed"] };
