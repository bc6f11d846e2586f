import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text, truth } from "../../schema.js";

const level = oneOf("chunk", "child_chunk");
const position = orNull(count);
const evidence = listOf(oneOf("updated_by", "disabled_by", "customized", "history", "chosen"));

const texts = { content: text, answer: orNull(text), keywords: orNull(listOf(text)) };

const childRestore = result({
  child_id: text,
  position,
  evidence,
  content: text,
  twin: v.pipe(
    orNull(result({ id: text, content: text })),
    v.description("the child chunk that it replaces; null: it is added"),
  ),
});

const chunkRestore = result({
  chunk_id: text,
  position,
  evidence,
  target: v.pipe(
    orNull(result({ ...texts, id: text, position, enabled: truth, status: orNull(text) })),
    v.description("the chunk that takes the texts, as it stood when the plan was made; null: one is added at the end"),
  ),
  texts: v.pipe(orNull(result(texts)), v.description("the texts to write; null: they stand there")),
  equal: v.pipe(count, v.description("chunks of the target that say these texts already")),
  disable: truth,
  children: listOf(childRestore),
});

const listedLoss = result({
  level,
  id: text,
  segment_id: orNull(text),
  position,
  why: oneOf("no evidence", "unknown before", "conflict", "no place", "disabled"),
  reason: text,
  content: text,
  now: orNull(text),
  choice: v.pipe(
    orNull(oneOf("replace", "add")),
    v.description("what --chunk does with it; null: it cannot be chosen"),
  ),
});

const documentPlan = result({
  dataset_id: text,
  document_id: text,
  document_name: orNull(text),
  doc_form: orNull(text),
  refused: v.pipe(orNull(text), v.description("why nothing may be written to this document")),
  restores: listOf(chunkRestore),
  listed: v.pipe(listOf(listedLoss), v.description("lost rows that are left alone, and why")),
  losses: v.pipe(
    listOf(result({ level, id: text, position, part: oneOf("keywords", "attachments", "summary"), reason: text })),
    v.description("parts that no request can bring back"),
  ),
  present: count,
});

const appliedRow = result({
  document_id: text,
  level,
  id: text,
  position,
  outcome: oneOf("written", "there", "changed meanwhile", "failed", "still enabled"),
  target_id: orNull(text),
  reason: orNull(text),
});

const difference = result({ document_id: text, level, id: text, position, reason: text });

/** The result of `kbdump restore --lost --json`. */
export const restoreResult = v.pipe(
  result({
    status: oneOf("planned", "nothing lost", "proved", "partial", "different"),
    run: result({ folder: text, job: text, run_id: text }),
    base_url: text,
    against: v.pipe(orNull(text), v.description("null: compared with the documents as they stood at the service")),
    plan: result({ documents: listOf(documentPlan) }),
    counts: result({
      rows: count,
      chunks_updated: count,
      chunks_added: count,
      chunks_disabled: count,
      children_replaced: count,
      children_added: count,
      writes: count,
      characters: count,
    }),
    applied: v.pipe(
      orNull(result({ rows: listOf(appliedRow), writes: count })),
      v.description("null where nothing was to be written"),
    ),
    differences: v.pipe(orNull(listOf(difference)), v.description("findings of the proof; null where there was none")),
    undo: v.pipe(orNull(text), v.description("the dump that was made before the first write")),
    journal: orNull(text),
    warnings: listOf(text),
  }),
  v.title("Result of kbdump restore --lost --json"),
);

export type RestoreOutput = v.InferOutput<typeof restoreResult>;
