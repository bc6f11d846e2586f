import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text, truth } from "../../schema.js";

/** Settings of the service, whatever their members. */
const settings: v.GenericSchema<object> = v.record(v.string(), v.unknown());

const losses = v.pipe(
  listOf(
    result({
      part: oneOf(
        ...(["chunks", "children", "attachments", "summaries"] as const),
        ...(["metadata", "settings", "process rule", "source", "name"] as const),
      ),
      rows: count,
      reason: text,
    }),
  ),
  v.description("parts that do not come, and are announced"),
);

const file = result({ path: text, name: text, mime_type: orNull(text), bytes: count, sha256: text });

const earlier = result({
  target_id: text,
  state: v.pipe(oneOf("begun", "restored", "failed"), v.description("failed: only --retry-failed tries it again")),
  reason: orNull(text),
});

const documentPlan = result({
  dataset_id: text,
  document_id: text,
  dataset_key: v.pipe(text, v.description("the key of the dataset that takes it")),
  document_name: text,
  doc_form: text,
  doc_language: orNull(text),
  indexing_technique: orNull(text),
  process_rule: settings,
  refused: v.pipe(orNull(text), v.description("why the document is left out; null: it comes")),
  earlier: v.pipe(orNull(earlier), v.description("the copy that an earlier restore made; null: there is none")),
  chunks: count,
  disabled: count,
  children: count,
  characters: count,
  metadata: listOf(result({ name: text, value: orNull(v.union([text, v.number()])) })),
  enabled: truth,
  archived: truth,
  original: v.pipe(orNull(file), v.description("the file to upload, with --from originals")),
  attachments: listOf(result({ id: text, file: orNull(file) })),
  attached: v.pipe(count, v.description("chunks that attachments are bound to")),
  losses,
});

const target = v.pipe(
  v.variant("kind", [
    result({ kind: v.literal("new"), name: text }),
    result({ kind: v.literal("there"), id: text, name: text }),
  ]),
  v.description("the dataset that takes the documents: a new one, or one that is there"),
);

const datasetPlan = result({
  key: v.pipe(text, v.description("dataset_id, with the form behind it where the documents have several forms")),
  dataset_id: text,
  dataset_name: text,
  target,
  settings: result({
    description: text,
    indexing_technique: orNull(text),
    permission: text,
    embedding_model: orNull(text),
    embedding_model_provider: orNull(text),
    retrieval_model: orNull(settings),
    summary_index_setting: orNull(settings),
  }),
  fields: listOf(result({ name: text, type: text })),
  built_in_fields: truth,
  equipping: v.pipe(count, v.description("write requests that give the dataset the fields and tags that it lacks")),
  tags: listOf(text),
  losses,
  documents: listOf(documentPlan),
});

const movedDocument = result({
  dataset_id: text,
  document_id: text,
  document_name: text,
  outcome: oneOf("restored", "partial", "failed", "waiting"),
  target_dataset_id: orNull(text),
  target_id: orNull(text),
  failed: v.pipe(
    listOf(result({ level: oneOf("chunk", "child_chunk"), id: text, position: orNull(count), reason: text })),
    v.description("rows of the dump that did not come"),
  ),
  reason: orNull(text),
});

/** A difference between the run and a service. */
export const difference = result({
  level: oneOf("dataset", "document", "chunk", "child_chunk"),
  document_id: orNull(text),
  id: text,
  position: orNull(count),
  reason: text,
});

/** The result of `kbdump restore --to --json`. */
export const moveResult = v.pipe(
  result({
    status: oneOf("planned", "proved", "partial", "different"),
    run: result({ folder: text, job: text, run_id: text }),
    base_url: v.pipe(text, v.description("the service that takes the documents")),
    plan: result({ from: oneOf("chunks", "originals"), datasets: listOf(datasetPlan) }),
    counts: result({
      datasets: count,
      documents: count,
      left_out: count,
      there: count,
      chunks: count,
      children: count,
      characters: count,
      writes: v.pipe(count, v.description("write requests to expect; they may become more")),
    }),
    applied: v.pipe(
      orNull(result({ documents: listOf(movedDocument), problems: listOf(text), writes: count })),
      v.description("null where nothing was to be written"),
    ),
    differences: v.pipe(orNull(listOf(difference)), v.description("findings of the proof; null where there was none")),
    proof: v.pipe(orNull(text), v.description("the dump of the documents that were made, which proves them")),
    journal: orNull(text),
    warnings: listOf(text),
  }),
  v.title("Result of kbdump restore --to --json"),
);

export type MoveOutput = v.InferOutput<typeof moveResult>;
