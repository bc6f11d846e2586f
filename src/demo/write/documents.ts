import * as v from "valibot";
import { count, listOf, object, oneOf, openObject, text, truth } from "../../schema.js";
import type { StoredDocument } from "../index-knowledge.js";
import { type Dataset, type Document, invalidParam, Refusal } from "../knowledge.js";
import { cutText, sentencesIn } from "../reindex.js";
import { jsonReply, noContent, parseJson, type Route, route } from "../routes.js";
import { accounts } from "../sample/outline.js";
import type { DocumentStore } from "../store/document-store.js";
import type { FileStore, IncomingFile } from "../store/file-store.js";
import {
  automaticRule,
  type ChunkText,
  embedsChildren,
  newDetails,
  newDocument,
  type ProcessRule,
} from "../store/new-rows.js";
import { changedDataset } from "./datasets.js";
import { checked, fileFrom } from "./requests.js";
import { answerLater, type WriteOptions } from "./write-options.js";

/** The answer to who creates a document: nothing else says which batch it is in. */
interface CreatedDocument {
  readonly document: Document;
  readonly batch: string;
}

/** The writes to documents. Each is done at once, before its answer waits for the delay; the indexing takes longer. */
export class DocumentWrites {
  readonly #store: DocumentStore;
  readonly #files: FileStore;
  readonly #options: Required<WriteOptions>;

  constructor(store: DocumentStore, files: FileStore, options: Required<WriteOptions>) {
    this.#store = store;
    this.#files = files;
    this.#options = options;
  }

  /** Creates a document from a text, and begins to index it. Throws a 400 for what its dataset does not take. */
  async createFromText(datasetId: string, { name, text, ...settings }: TextCreation): Promise<CreatedDocument> {
    return this.#create(
      datasetId,
      { name, mimeType: "text/plain", extension: "txt", bytes: Buffer.from(text) },
      settings,
    );
  }

  /** Creates a document from a file that holds text. The same, and a 415 for any other file. */
  async createFromFile(datasetId: string, file: IncomingFile, settings: CreationSettings): Promise<CreatedDocument> {
    const hasRule = settings.rule ?? newestRule(this.#store.documents(datasetId));
    if (!hasRule) throw invalidParam("process_rule is required.");
    return this.#create(datasetId, file, settings);
  }

  async #create(datasetId: string, incoming: IncomingFile, settings: CreationSettings): Promise<CreatedDocument> {
    const { name } = incoming;
    const form = settings.doc_form ?? "text_model";
    const others = this.#store.documents(datasetId);
    const text = textOf(incoming);
    const dataset = readyDataset(this.#store.dataset(datasetId), settings, form, this.#options, this.#time());
    this.#store.writeDataset(dataset);
    const arrival = { id: this.#options.newId(), by: accounts.owner, time: this.#time() };
    const { facts } = this.#files.add(incoming, arrival);
    const position = others.reduce((greatest, { row }) => Math.max(greatest, Number(row.position ?? 0)), 0) + 1;
    const { time: createdAt, by } = arrival;
    const created = { id: this.#options.newId(), name, form, position, createdAt, by, file: facts };
    const rule = settings.rule ?? newestRule(others) ?? automaticRule;
    const document: StoredDocument = {
      row: newDocument(created),
      details: newDetails(created, settings.doc_language ?? "English", rule),
      chunks: [],
      embedsChildren: embedsChildren(rule),
    };
    const { batch } = this.#store.addDocument(datasetId, document, textPieces(text, form, rule), {
      seconds: this.#options.indexingTime,
      error: this.#options.indexingFails(name) ? "Embedding failed: the model did not answer" : undefined,
    });
    await answerLater(this.#options);
    return { document: document.row, batch };
  }

  /** Deletes a document. Throws a 400 while it is being indexed, and a 403 for one that is archived. */
  async remove(datasetId: string, documentId: string): Promise<void> {
    const { row } = this.#store.readIn(datasetId, documentId);
    if (row.archived === true) {
      throw new Refusal(403, "archived_document_immutable", "The archived document is not editable.");
    }
    this.#store.removeDocument(row.id);
    await answerLater(this.#options);
  }

  /** Changes the status of documents: of all of them, or of none. Throws a 400 while one is being indexed. */
  async setStatus(datasetId: string, documentIds: readonly string[], action: StatusAction): Promise<void> {
    const documents = documentIds.map((id) => this.#store.readIn(datasetId, id));
    const rows = documents.map(({ row }) => statusAfter(action, row, this.#time()));
    for (const row of rows) this.#store.setFields(row.id, row);
    await answerLater(this.#options);
  }

  #time(): number {
    return Math.floor(this.#store.now());
  }
}

/** The rule of the newest document that has one, without its id. */
function newestRule(newestFirst: readonly StoredDocument[]): ProcessRule | undefined {
  const rule = newestFirst.find(({ details }) => details)?.details?.document_process_rule;
  return rule && { mode: rule.mode, rules: rule.rules };
}

/** The text of a file. Throws a 415 for bytes that are no UTF-8. */
function textOf({ bytes }: IncomingFile): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(415, "unsupported_file_type", "File type not allowed.");
  }
}

/**
 * The dataset that a document is created in, with all that its first document decides. Throws a 400 for a dataset without an indexing
 * technique, if the document brings none, and for a form that the other documents do not have. `time` in Unix seconds.
 */
function readyDataset(
  dataset: Dataset,
  settings: CreationSettings,
  form: string,
  { mixedForms, embeddingModels }: Required<WriteOptions>,
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
 * The chunks that a text becomes: it is cleaned, split at the separator of the rule, and longer pieces are cut. As in the service, a piece
 * loses symbols that it begins with, so that no text comes back word for word. In qa_model, each piece becomes a question and its answer.
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

/** Marks of language models lose their bars; three line breaks and more become two. */
function cleanText(text: string): string {
  return text
    .replace(/<\|/g, "<")
    .replace(/\|>/g, ">")
    .replace(/\r\n?/g, "\n")
    .replace(/\n{3,}/g, "\n\n");
}

/** People write line breaks as `\n` in their settings. */
function unescaped(separator: string): string {
  return separator.replace(/\\n/g, "\n").replace(/\\t/g, "\t");
}

function withoutSymbols(piece: string): string {
  return piece.replace(/^[#"(.[*\s]+/, "");
}

/** The language model of the demo: it asks for the first sentence of what it was given. */
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

/** The settings of a document to create. `rule` is undefined if the request has none. */
interface CreationSettings extends Readonly<Omit<v.InferOutput<typeof fileSettings>, "process_rule">> {
  readonly rule: ProcessRule | undefined;
}

/** A document to create from a text. */
interface TextCreation extends CreationSettings {
  readonly name: string;
  readonly text: string;
}

/** The document of a request to create it from a text. Throws a 400 that names every problem. */
function checkTextCreation(body: unknown): TextCreation {
  const { process_rule, ...fields } = checked(creation, body);
  return { ...fields, rule: process_rule ? ruleFrom(process_rule.mode, body) : undefined };
}

/** The settings of a request to create a document from a file; the same. */
function checkFileSettings(data: unknown): CreationSettings {
  const { process_rule, ...fields } = checked(fileSettings, data);
  return { ...fields, rule: process_rule ? ruleFrom(process_rule.mode, data) : undefined };
}

/** The ids of a request that is about several documents; the same. */
function checkDocumentIds(body: unknown): readonly string[] {
  return checked(named, body).document_ids;
}

/** Rules that come with the automatic mode are ignored. */
function ruleFrom(mode: ProcessRule["mode"], body: unknown): ProcessRule {
  if (mode === "automatic") return automaticRule;
  return { mode, rules: checked(ruledRequest, body).process_rule.rules };
}

/** The routes of the writes to documents. */
export function documentRoutes(documents: DocumentWrites): readonly Route[] {
  const dataset = "/v1/datasets/:dataset";
  const byText: Route["reply"] = async ({ id, body }) =>
    jsonReply(200, await documents.createFromText(id("dataset"), checkTextCreation(await body())));
  const byFile: Route["reply"] = async ({ id, form }) => {
    const fields = await form();
    const data = fields.get("data");
    const settings = checkFileSettings(typeof data === "string" ? parseJson(data) : {});
    return jsonReply(200, await documents.createFromFile(id("dataset"), await fileFrom(fields), settings));
  };
  return [
    route("POST", `${dataset}/document/create-by-text`, byText),
    route("POST", `${dataset}/document/create_by_text`, byText),
    route("POST", `${dataset}/document/create-by-file`, byFile),
    route("POST", `${dataset}/document/create_by_file`, byFile),
    route("DELETE", `${dataset}/documents/:document`, async ({ id }) => {
      await documents.remove(id("dataset"), id("document"));
      return noContent;
    }),
    route("PATCH", `${dataset}/documents/status/:action`, async ({ id, body }) => {
      await documents.setStatus(id("dataset"), checkDocumentIds(await body()), checkAction(id("action")));
      return jsonReply(200, { result: "success" });
    }),
  ];
}

const statusActions = ["enable", "disable", "archive", "un_archive"] as const;
type StatusAction = (typeof statusActions)[number];

/** The action of a path. Throws a 400 for any other word. */
function checkAction(word: string): StatusAction {
  const action = statusActions.find((each) => each === word);
  if (action) return action;
  throw new Refusal(400, "invalid_action", `Invalid action: ${word}.`);
}

/** The document after an action; one that is so already stays as it is. Throws a 400 for one that is not indexed. */
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
