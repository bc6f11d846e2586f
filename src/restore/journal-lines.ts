import * as v from "valibot";
import { count, listOf, oneOf, text } from "../schema.js";

const textOrNull = v.nullable(text);

/** The first line, and one for each process that continues: the restore that the journal belongs to. */
const begun = v.object({
  kind: v.literal("begun"),
  run_id: text,
  base_url: text,
  /** The folder of the dump that was made before the writes that follow; null for a copy. */
  undo: textOrNull,
  time: text,
});

/** Writes to a document of the run are listed by its id in the run, except those of lost rows: there it is the same at the service. */
const intent = v.object({
  kind: v.literal("intent"),
  number: count,
  /** A chunk that was stored and not indexed is touched, which changes its text a little, and then repaired. */
  write: oneOf(
    ...(["create dataset", "create field", "set built-in fields", "create tag", "bind tags"] as const),
    ...(["create document", "delete document", "set metadata", "set status", "upload file"] as const),
    ...(["add chunks", "update chunk", "disable chunk", "touch chunk", "repair chunk", "delete chunk"] as const),
    ...(["add child", "update child", "delete child"] as const),
  ),
  /** For a copy, the key of the plan of the dataset. */
  dataset_id: text,
  /** Null for writes to a dataset. */
  document_id: textOrNull,
  /** Id in the run of what is written: a dataset, document, chunk, child chunk or attachment; the name of a field or tag. */
  old_id: textOrNull,
  /** Id at the service of what is changed; null if something is made. */
  target_id: textOrNull,
  /** The chunk of a child chunk, at the service. */
  parent_id: textOrNull,
  /** The name of what is made; null if it has none. */
  name: textOrNull,
  /** The chunks of the document before those that a copy adds, and the number of these. */
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

/** Recorded right before a write is sent: without this line, it was not sent. Repeated if the service asks to retry later. */
const sent = v.object({ kind: v.literal("sent"), number: count, time: v.pipe(text, v.isoTimestamp("a time")) });

/** The outcome of a write; of two with one number, the later holds. */
const outcome = v.object({
  kind: v.literal("outcome"),
  number: count,
  outcome: oneOf("done", "refused", "not done"),
  /** Ids at the service of what was made or changed, in order. */
  ids: listOf(text),
  /** The batch of a document that was made. */
  batch: textOrNull,
  /** Whether the service indexed a lost row; a chunk that it did not index is disabled and has the status error. */
  indexed: v.nullable(v.boolean("true or false")),
  time: text,
});

/** A dataset of the service that was named, and takes the documents of one of the run. `dataset_id` is the key of its plan. */
const adopted = v.object({ kind: v.literal("adopted"), dataset_id: text, id: text, name: text, time: text });

/** A document whose copy is complete. */
const restored = v.object({ kind: v.literal("restored"), document_id: text, time: text });

/** A dataset or document whose copy is gone, so that another is made: the key of its plan, or its id in the run. */
const forgotten = v.object({ kind: v.literal("forgotten"), old_id: text, time: text });

/** A chunk at the service that is not to be repaired any more: it is gone, or somebody gave it another text. */
const given = v.object({ kind: v.literal("given up"), id: text, time: text });

const end = v.object({ kind: v.literal("end"), time: text });

/** Any line of a journal. Fields that do not apply to a write are null. Texts are recorded as hashes only. */
export const lineSchema = v.variant(
  "kind",
  [begun, intent, sent, outcome, adopted, restored, forgotten, given, end],
  "begun, intent, sent, outcome, adopted, restored, forgotten, given up or end",
);

/** No facts of a write: members that do not apply are null. */
export const emptyFacts = {
  ...{ document_id: null, old_id: null, target_id: null, parent_id: null, name: null, first: null, rows: null },
  ...{ texts_sha256: null, keywords_sha256: null, equal: [] },
};

export type JournalLine = v.InferOutput<typeof lineSchema>;
export type Intent = Readonly<v.InferOutput<typeof intent>>;
export type Write = Intent["write"];
export type Outcome = Readonly<v.InferOutput<typeof outcome>>;

export type WriteRequest = Pick<Intent, "method" | "path" | "sha256">;

/** The facts of a write in the journal, apart from its request. Absent ones do not apply. */
export type WriteFacts = Pick<Intent, "write" | "dataset_id"> &
  Partial<Omit<Intent, "kind" | "number" | "time" | keyof WriteRequest>>;

/** Ids at the service of the rows that a write made or changed, in order. */
export interface Made {
  readonly ids: readonly string[];
  /** The batch of a document; null if it is not known. */
  readonly batch: string | null;
  /** Whether the service indexed a chunk; null if it does not matter. */
  readonly isIndexed: boolean | null;
}
