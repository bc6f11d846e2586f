import type { StoredDocument } from "../../index-knowledge.js";
import type { Document } from "../../knowledge.js";
import { invalidParam, Refusal } from "../../refusal.js";
import { accounts } from "../../sample/stable-id.js";
import type { DocumentStore } from "../../store/document-store.js";
import type { FileStore, IncomingFile } from "../../store/file-store.js";
import { newDetails, newDocument } from "../../store/new-document.js";
import { automaticRule, embedsChildren, type ProcessRule } from "../../store/process-rule.js";
import { answerLater, type WriteOptions } from "../write-options.js";
import { type StatusAction, statusAfter } from "./document-status.js";
import { readyDataset } from "./ready-dataset.js";
import type { CreationSettings, TextCreation } from "./requests.js";
import { textPieces } from "./text-pieces.js";

/** The answer to who creates a document: nothing else says which batch it is in. */
export interface CreatedDocument {
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
