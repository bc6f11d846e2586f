import * as v from "valibot";
import { sentencesIn } from "../../../src/demo/indexing.js";
import { invalidParam, Refusal } from "../../../src/demo/knowledge.js";
import { type Asked, jsonReply, noContent, type Reply, type Route, route } from "../../../src/demo/routes.js";
import {
  accounts,
  type ChunkText,
  type Dataset,
  type Document,
  type StoredDocument,
  stableId,
} from "../../../src/demo/rows.js";
import { buildDocument } from "../../../src/demo/sample/sample-knowledge.js";
import { bodyOf, checked, parseJson } from "../../../src/demo/write-routes.js";
import { count, isMapping, listOf, object, oneOf, openObject, text, truth } from "../../../src/schema.js";
import { cutText } from "./cut-source.js";
import { changedDataset } from "./datasets.js";
import { fileFrom, formOf, type IncomingFile, type StoredFile } from "./uploads.js";
import type { Place } from "./writable-knowledge.js";

/** The routes that write documents. A write takes effect immediately; indexing takes longer. */
export function documentRoutes(place: Place): readonly Route[] {
  const { store } = place;
  const dataset = "/v1/datasets/:dataset";
  const byText = async (asked: Asked): Promise<Reply> => {
    const body = parseJson((await asked.bytes()).toString());
    const { name, text, process_rule, ...settings } = checked(creation, body);
    const file = { name, mimeType: "text/plain", extension: "txt", bytes: Buffer.from(text) };
    return createDocument(place, asked.id("dataset"), file, { ...settings, rule: ruleFrom(process_rule, body) });
  };
  const byFile = async (asked: Asked): Promise<Reply> => {
    const fields = await formOf(asked);
    const data = fields.get("data");
    const body = typeof data === "string" ? parseJson(data) : {};
    const { process_rule, ...settings } = checked(fileSettings, body);
    const rule = ruleFrom(process_rule, body) ?? newestRule(store.documents(asked.id("dataset")));
    const file = await fileFrom(fields);
    if (!rule) throw invalidParam("process_rule is required.");
    return createDocument(place, asked.id("dataset"), file, { ...settings, rule });
  };
  return [
    route("POST", `${dataset}/document/create-by-text`, byText),
    route("POST", `${dataset}/document/create_by_text`, byText),
    route("POST", `${dataset}/document/create-by-file`, byFile),
    route("POST", `${dataset}/document/create_by_file`, byFile),
    route("DELETE", `${dataset}/documents/:document`, ({ id }) => {
      const { row } = store.readIn(id("dataset"), id("document"));
      if (row.archived === true) {
        throw new Refusal(403, "archived_document_immutable", "The archived document is not editable.");
      }
      store.removeDocument(row.id);
      return noContent;
    }),
    // Changes all of the documents or none.
    route("PATCH", `${dataset}/documents/status/:action`, async (asked) => {
      const { document_ids } = await bodyOf(named, asked);
      const action = checkAction(asked.id("action"));
      const documents = document_ids.map((id) => store.readIn(asked.id("dataset"), id));
      const rows = documents.map(({ row }) => statusAfter(action, row, Math.floor(store.now())));
      for (const [at, row] of rows.entries()) {
        store.setFields(row.id, row);
        if (row !== documents[at]?.row && (action === "disable" || action === "archive")) store.disableChunks(row.id);
      }
      return jsonReply(200, { result: "success" });
    }),
  ];
}

/** Creates a document from a file, and starts indexing. Throws a 400 if its dataset does not accept it, and a 415 if it is not text. */
function createDocument(place: Place, datasetId: string, incoming: IncomingFile, settings: CreationSettings): Reply {
  const { store, files, options } = place;
  const { name } = incoming;
  const form = settings.doc_form ?? "text_model";
  const others = store.documents(datasetId);
  const text = textOf(incoming);
  const createdAt = Math.floor(store.now());
  store.writeDataset(readyDataset(store.dataset(datasetId), settings, form, options, createdAt));
  const { facts: file } = files.add(incoming, options.newId(), createdAt);
  const position = others.reduce((greatest, { row }) => Math.max(greatest, Number(row.position ?? 0)), 0) + 1;
  const rule = settings.rule ?? newestRule(others) ?? automaticRule;
  const language = settings.doc_language ?? "English";
  const { row, details } = newDocument({ id: options.newId(), name, form, position, createdAt, file, language, rule });
  const document = { row, details, chunks: [], embedsChildren: embedsChildren(rule) };
  const batch = store.addDocument(datasetId, document, textPieces(text, form, rule), {
    seconds: options.indexingTime,
    error: options.indexingFails(name) ? "Embedding failed: the model did not answer" : undefined,
  });
  return jsonReply(200, { document: row, batch });
}

/** A new document. `createdAt` is in Unix seconds. */
interface NewDocument {
  readonly id: string;
  readonly name: string;
  readonly form: NonNullable<CreationSettings["doc_form"]>;
  readonly position: number;
  readonly createdAt: number;
  /** The file that the document was made from. */
  readonly file: StoredFile["facts"];
  readonly language: string;
  readonly rule: ProcessRule;
}

/** A newly created document, not indexed yet: its row in the list, and its other details. Other fields are those of the sample. */
function newDocument({ id, name, form, position, createdAt, file, language, rule }: NewDocument) {
  const dataset = { name: "", description: "", technique: "economy", documents: [], batches: [] } as const;
  const sample = buildDocument(dataset, { name, form, topic: "product", chunkCount: 0 });
  const ruleId = stableId(`${id}/rule`);
  const row = {
    ...{ ...sample.row, id, position, data_source_info: { upload_file_id: file.id } },
    ...{ data_source_detail_dict: { upload_file: file }, dataset_process_rule_id: ruleId },
    ...{ created_by: accounts.owner, created_at: createdAt, indexing_status: "waiting", display_status: "queuing" },
    doc_metadata: [],
  };
  const details = {
    ...{ ...sample.details, data_source_info: { upload_file: file }, doc_language: language },
    ...{ document_process_rule: { id: ruleId, ...rule }, updated_at: createdAt },
    ...{ completed_at: null, indexing_latency: null },
  };
  return { row, details };
}

/** How the texts of a document are cleaned and cut, in the service's format. */
interface ProcessRule {
  readonly [field: string]: unknown;
  readonly mode: "automatic" | "custom" | "hierarchical";
  readonly rules: ProcessRules;
}

interface ProcessRules {
  readonly pre_processing_rules: readonly { readonly id: string; readonly enabled: boolean }[];
  readonly segmentation: Segmentation;
  readonly parent_mode?: "full-doc" | "paragraph" | null | undefined;
  readonly subchunk_segmentation?: Segmentation | null | undefined;
}

/** How to cut a text. Only the automatic rule has `delimiter` instead of `separator`. */
interface Segmentation {
  readonly separator?: string | null | undefined;
  readonly delimiter?: string;
  readonly max_tokens: number;
  readonly chunk_overlap?: number | null | undefined;
}

/** The rule of a document whose request has none. */
const automaticRule: ProcessRule = {
  mode: "automatic",
  rules: {
    pre_processing_rules: [
      { id: "remove_extra_spaces", enabled: true },
      { id: "remove_urls_emails", enabled: false },
    ],
    segmentation: { delimiter: "\n", max_tokens: 500, chunk_overlap: 50 },
  },
};

/** Whether the chunks of a rule embed their children, which is so if paragraphs are the parents. */
function embedsChildren({ mode, rules }: ProcessRule): boolean {
  return mode === "hierarchical" && rules.parent_mode === "paragraph";
}

/** The process rule of the newest document that has one, without its id. */
function newestRule(newestFirst: readonly StoredDocument[]): ProcessRule | undefined {
  const rule = newestFirst.find(({ details }) => details)?.details?.document_process_rule;
  return isRule(rule) ? { mode: rule.mode, rules: rule.rules } : undefined;
}

/** A type guard only: stored rules were checked before, or are part of the sample data. */
function isRule(value: unknown): value is ProcessRule {
  return isMapping(value) && isMapping(value.rules);
}

/** The text of a file. Throws a 415 if it is not UTF-8. */
function textOf({ bytes }: IncomingFile): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(415, "unsupported_file_type", "File type not allowed.");
  }
}

/**
 * The dataset of a new document, with the settings that its first document decides. Throws a 400 if neither the dataset nor the
 * document has an indexing technique, and for a form that differs from the other documents. `time` is in Unix seconds.
 */
function readyDataset(
  dataset: Dataset,
  settings: CreationSettings,
  form: string,
  { mixedForms, embeddingModels }: Place["options"],
  time: number,
): Dataset {
  const { indexing_technique, retrieval_model, embedding_model, embedding_model_provider } = settings;
  if (!dataset.indexing_technique && !indexing_technique) throw invalidParam("indexing_technique is required.");
  if (!mixedForms && dataset.doc_form && dataset.doc_form !== form) {
    throw invalidParam("doc_form is different from the dataset doc_form.");
  }
  const begun = { ...dataset, data_source_type: dataset.data_source_type ?? "upload_file" };
  if (dataset.indexing_technique) return begun;
  const change = { indexing_technique, retrieval_model, embedding_model, embedding_model_provider };
  return changedDataset(begun, change, { models: embeddingModels, time });
}

/**
 * Turns a text into chunks: cleans it, splits it at the separator of the rule, and cuts long pieces. Like in the service, a piece loses
 * leading symbols, so texts do not come back word for word. In qa_model, each piece becomes a question and its answer.
 */
function textPieces(text: string, form: string, { rules }: ProcessRule): readonly ChunkText[] {
  const { separator, max_tokens } = rules.segmentation;
  const cleaned = cleanText(text);
  const isWhole = form === "hierarchical_model" && rules.parent_mode === "full-doc";
  const parts = isWhole ? [cleaned] : cleaned.split(separator ? unescaped(separator) : /\n\s*\n/);
  const pieces = parts.flatMap((part) => (isWhole ? [part.trim()] : cutText(part, Math.max(2, max_tokens))));
  const contents = pieces.map(withoutSymbols).filter((piece) => piece !== "");
  return contents.map((content) => (form === "qa_model" ? questionAbout(content) : { content }));
}

/** Removes the bars from language-model tokens such as `<|endoftext|>`, and reduces three or more line breaks to two. */
function cleanText(text: string): string {
  return text
    .replace(/<\|/g, "<")
    .replace(/\|>/g, ">")
    .replace(/\r\n?/g, "\n")
    .replace(/\n{3,}/g, "\n\n");
}

/** Converts `\n`, which users type in settings, to a line break. */
function unescaped(separator: string): string {
  return separator.replace(/\\n/g, "\n").replace(/\\t/g, "\t");
}

function withoutSymbols(piece: string): string {
  return piece.replace(/^[#"(.[*\s]+/, "");
}

/** Stands in for a language model: its question contains the first sentence of the answer. */
function questionAbout(answer: string): ChunkText {
  return { content: `What follows from “${sentencesIn(answer)[0] ?? answer}”?`, answer };
}

const filledText = "a text that is not blank";
const filled = v.pipe(
  v.string(filledText),
  v.check((value) => value.trim() !== "", filledText),
);

const segmentation = openObject({
  separator: v.pipe(text, v.minLength(1, "a text that is not empty")),
  max_tokens: v.pipe(count, v.minValue(1, "a whole number from 1")),
  chunk_overlap: v.nullish(count),
});
const rules = openObject({
  pre_processing_rules: listOf(openObject({ id: text, enabled: truth })),
  segmentation,
  parent_mode: v.nullish(oneOf("full-doc", "paragraph")),
  subchunk_segmentation: v.nullish(segmentation),
});
const ruledRequest = object({ process_rule: object({ rules }) });

const settings = {
  doc_form: v.nullish(oneOf("text_model", "qa_model", "hierarchical_model")),
  doc_language: v.nullish(text),
  indexing_technique: v.nullish(oneOf("high_quality", "economy")),
  process_rule: v.nullish(object({ mode: oneOf("automatic", "custom", "hierarchical") })),
  retrieval_model: v.nullish(openObject({})),
  embedding_model: v.nullish(text),
  embedding_model_provider: v.nullish(text),
};

const creation = object({ name: filled, text: filled, ...settings });
const fileSettings = object(settings);
const named = object({ document_ids: listOf(text) });

/** The settings of a new document. `rule` is undefined if the request has none. */
interface CreationSettings extends Readonly<Omit<v.InferOutput<typeof fileSettings>, "process_rule">> {
  readonly rule: ProcessRule | undefined;
}

/** The rule of a request. Rules that come with the automatic mode are ignored. */
function ruleFrom(
  given: { readonly mode: ProcessRule["mode"] } | null | undefined,
  body: unknown,
): ProcessRule | undefined {
  if (!given) return undefined;
  if (given.mode === "automatic") return automaticRule;
  return { mode: given.mode, rules: checked(ruledRequest, body).process_rule.rules };
}

const statusActions = ["enable", "disable", "archive", "un_archive"] as const;
type StatusAction = (typeof statusActions)[number];

/** The action that a path names, such as `disable`. Throws a 400 for any other word. */
function checkAction(word: string): StatusAction {
  const action = statusActions.find((each) => each === word);
  if (action) return action;
  throw new Refusal(400, "invalid_action", `Invalid action: ${word}.`);
}

/** The document after an action such as `disable`; unchanged if it already has that state. Throws a 400 if the document is not indexed. */
function statusAfter(action: StatusAction, row: Document, time: number): Document {
  if (row.indexing_status !== "completed") {
    throw new Refusal(400, "invalid_action", `Document: ${row.name} is not completed.`);
  }
  const enabled = action === "enable" || action === "disable" ? action === "enable" : row.enabled === true;
  const archived = action === "archive" || action === "un_archive" ? action === "archive" : row.archived === true;
  if (enabled === row.enabled && archived === row.archived) return row;
  const switched =
    enabled === row.enabled
      ? {}
      : { enabled, disabled_at: enabled ? null : time, disabled_by: enabled ? null : accounts.owner };
  const display_status = archived ? "archived" : enabled ? "available" : "disabled";
  return { ...row, ...switched, archived, display_status };
}
