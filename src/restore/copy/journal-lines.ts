import * as v from "valibot";
import { count, listOf, oneOf, text } from "../../schema.js";
import { sentLine } from "../journal-file.js";

const textOrNull = v.nullable(text);

/** The first line, and one for each process that goes on: the move that the journal belongs to. */
const begun = v.object({
  kind: v.literal("begun"),
  run_id: text,
  base_url: text,
  from: oneOf("chunks", "originals"),
  time: text,
});

/** A dataset of the target that was named, and takes the documents of one of the dump. `dataset_id` is the key of its plan. */
const adopted = v.object({ kind: v.literal("adopted"), dataset_id: text, id: text, name: text, time: text });

/** A write that waits for its turn to be sent. Texts are in the dump, and here only as the hash of the body. */
const intent = v.object({
  kind: v.literal("intent"),
  number: count,
  write: oneOf(
    ...(["create dataset", "create field", "set built-in fields", "create tag", "bind tags"] as const),
    ...(["create document", "delete document", "set metadata", "set status", "upload file"] as const),
    ...(["add chunks", "update chunk", "disable chunk", "delete chunk"] as const),
    ...(["add child", "update child", "delete child"] as const),
  ),
  /** The key of the plan of the dataset, and the id of the document in the dump; the document is null for writes to a dataset. */
  dataset_id: text,
  document_id: textOrNull,
  /** Id in the dump of what is written: a dataset, document, chunk, child chunk or attachment; the name of a field or tag. */
  old_id: textOrNull,
  /** Id at the service of what is changed; null where something is made. */
  target_id: textOrNull,
  /** The name of what is made; null where it has none. */
  name: textOrNull,
  /** The chunks of the document before those that are added, and the number of these; null for other writes. */
  first: v.nullable(count),
  rows: v.nullable(count),
  method: text,
  path: text,
  /** SHA-256 of the body. */
  sha256: text,
  time: text,
});

/** The outcome of a write; of two with one number, the later holds. */
const outcome = v.object({
  kind: v.literal("outcome"),
  number: count,
  outcome: oneOf("done", "refused", "not done"),
  /** Ids at the service of what was made, in order. */
  ids: listOf(text),
  /** The batch of a document that was made. */
  batch: textOrNull,
  time: text,
});

/** The state of a document when a process was done with it; the last one holds. */
const document = v.object({
  kind: v.literal("document"),
  document_id: text,
  state: oneOf("restored", "failed"),
  reason: textOrNull,
  time: text,
});

/** A dataset or document whose copy is gone from the target, so that another is made: the key of its plan, or its id in the dump. */
const forgotten = v.object({ kind: v.literal("forgotten"), old_id: text, time: text });

/** Any line of the journal of a move. */
export const lineSchema = v.variant(
  "kind",
  [begun, adopted, intent, sentLine, outcome, document, forgotten],
  "begun, adopted, intent, sent, outcome, document or forgotten",
);

export type JournalLine = v.InferOutput<typeof lineSchema>;
export type Intent = Readonly<v.InferOutput<typeof intent>>;
export type IntentFacts = Omit<Intent, "kind" | "number" | "time">;
export type IntentOutcome = Readonly<v.InferOutput<typeof outcome>>;
