import * as v from "valibot";
import { count, listOf, oneOf, text } from "../../schema.js";
import { sentLine } from "../journal/sent-line.js";

const textOrNull = v.nullable(text);

/** The first line, and one for each process that goes on: the restore that the journal belongs to. */
const begun = v.object({
  kind: v.literal("begun"),
  run_id: text,
  base_url: text,
  /** The folder of the dump that was made before the writes that follow. */
  undo: text,
  time: text,
});

/** A write that waits for its turn to be sent. Texts are stored as hashes only. */
const intent = v.object({
  kind: v.literal("intent"),
  number: count,
  dataset_id: text,
  document_id: text,
  level: oneOf("chunk", "child_chunk"),
  /** A chunk that was stored and not indexed is touched, which changes its text a little, and then repaired. */
  action: oneOf("add", "update", "disable", "touch", "repair"),
  /** Id of the row in the older run. */
  old_id: text,
  /** Id of the row in the target; null where one is added. */
  target_id: textOrNull,
  /** The chunk of a child chunk, in the target. */
  parent_id: textOrNull,
  method: text,
  path: text,
  /** SHA-256 of the body. */
  sha256: text,
  /** SHA-256 of the new texts of the row; null if it is only disabled. */
  texts_sha256: textOrNull,
  /** SHA-256 of its new keywords; null if the service chooses them. */
  keywords_sha256: textOrNull,
  /** Ids of the rows that say the same before the write. */
  equal: listOf(text),
  time: text,
});

/** The outcome of a write; of two with one number, the later holds. */
const outcome = v.object({
  kind: v.literal("outcome"),
  number: count,
  outcome: oneOf("done", "refused", "not done"),
  /** Id of the row in the target. */
  id: textOrNull,
  /** Whether the service indexed the chunk; one that it did not is disabled and has the status error. */
  indexed: v.boolean("true or false"),
  time: text,
});

/** A chunk that is not to be repaired any more: it is gone, or somebody gave it another text. */
const given = v.object({ kind: v.literal("given up"), id: text, time: text });

const end = v.object({ kind: v.literal("end"), time: text });

export const lineSchema = v.variant(
  "kind",
  [begun, intent, sentLine, outcome, given, end],
  "begun, intent, sent, outcome, given up or end",
);

export type JournalLine = v.InferOutput<typeof lineSchema>;
export type Begun = Readonly<v.InferOutput<typeof begun>>;
export type Intent = Readonly<v.InferOutput<typeof intent>>;
export type IntentOutcome = Readonly<v.InferOutput<typeof outcome>>;
export type IntentFacts = Omit<Intent, "kind" | "number" | "time">;
