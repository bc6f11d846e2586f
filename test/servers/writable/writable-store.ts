import { DocumentStore, type HeldDocument } from "../../../src/demo/document-store.js";
import type { Listed } from "../../../src/demo/knowledge.js";
import {
  accounts,
  type ChunkText,
  type Dataset,
  type Document,
  type StoredChunk,
  type StoredDocument,
} from "../../../src/demo/rows.js";
import { cutAgain, ruleWith, sourceFrom } from "./cut-source.js";
import { UploadedFiles } from "./uploads.js";

/** How to index a new document. With an `error`, the indexing fails at its end for this reason. */
interface Manner {
  readonly seconds: number;
  readonly error: string | undefined;
}

/** A store that can add and remove datasets and documents, and change sources. */
export class WritableStore extends DocumentStore {
  /** By batch: why its indexing will fail. */
  readonly #failures = new Map<string, string>();

  readonly files = new UploadedFiles();

  /** The document as it is now. */
  read(documentId: string): StoredDocument {
    return this.readIn(this.find(documentId).dataset.row.id, documentId);
  }

  /** Adds a dataset without documents, or replaces the row of an existing one. */
  writeDataset(row: Dataset): void {
    const held = this.held.get(row.id);
    if (held) held.row = row;
    else this.held = new Map([[row.id, { row, documents: new Map(), batches: new Map() }], ...this.held]);
  }

  /** Removes a dataset with all its documents. */
  removeDataset(datasetId: string): void {
    this.held.delete(this.findDataset(datasetId).row.id);
  }

  /** Starts a re-index. `maxCharacters`: the new maximum size of a chunk; undefined: unchanged. */
  override reindex(
    documentId: string,
    manner: { readonly seconds: number; readonly maxCharacters?: number | undefined },
  ) {
    const { maxCharacters } = manner;
    if (maxCharacters === undefined) return super.reindex(documentId, manner);
    this.checkIdle(documentId);
    const held = this.find(documentId);
    const { source } = held;
    held.source = cutAgain(source, maxCharacters, held.version, held.dataset.row);
    const begun = super.reindex(documentId, manner);
    held.source = source;
    const { details } = held.version;
    if (details) held.version = { ...held.version, details: { ...details, ...ruleWith(held.version, maxCharacters) } };
    return begun;
  }

  /** Adds a document without chunks, and starts to index these texts. Returns the batch. */
  addDocument(
    datasetId: string,
    version: StoredDocument,
    texts: readonly ChunkText[],
    { seconds, error }: Manner,
  ): string {
    const dataset = this.findDataset(datasetId);
    const held: HeldDocument = { dataset, version, source: sourceFrom(texts, version, dataset.row) };
    dataset.documents.set(version.row.id, held);
    const { batch } = super.reindex(version.row.id, { seconds });
    if (error !== undefined) {
      this.#failures.set(batch, error);
      held.version = failed(held.version, error);
    }
    return batch;
  }

  /** Removes a document. Throws a 400 while it is being indexed. */
  removeDocument(documentId: string): void {
    this.checkIdle(documentId);
    const { dataset, version } = this.find(documentId);
    dataset.documents.delete(version.row.id);
  }

  /** Changes fields of a document, such as `enabled`, `archived`, `indexing_status` or `doc_form`. */
  setFields(documentId: string, fields: Partial<Document>): void {
    const version = this.read(documentId);
    this.write({ ...version, row: { ...version.row, ...fields } });
  }

  /** Disables the enabled chunks of a document, like the service does when it disables or archives the document. */
  disableChunks(documentId: string): void {
    const version = this.read(documentId);
    const off = { enabled: false, disabled_at: Math.floor(this.now()), disabled_by: accounts.owner };
    const chunks = version.chunks.map((chunk) =>
      chunk.row.enabled === false ? chunk : { ...chunk, row: { ...chunk.row, ...off } },
    );
    this.write({ ...version, chunks });
  }

  /** The source of a document, piece by piece. */
  source(documentId: string): readonly ChunkText[] {
    return this.find(documentId).source.map(textsOf);
  }

  /** Replaces the source of a document. The next re-index uses it. */
  setSource(documentId: string, texts: readonly ChunkText[]): void {
    const held = this.find(documentId);
    held.source = sourceFrom(texts, held.version, held.dataset.row);
  }

  override statusEntries(datasetId: string, batch: string): readonly Listed[] {
    return super.statusEntries(datasetId, batch).map((entry) => {
      const error = this.#failures.get(this.find(entry.id).job?.batch ?? "");
      if (error === undefined || entry.indexing_status !== "completed") return entry;
      const ended = { completed_at: null, stopped_at: entry.completed_at, completed_segments: 0 };
      return { ...entry, ...ended, indexing_status: "error", error };
    });
  }
}

/** The document after a failed indexing: it has its new chunks, but they were never completely indexed. */
function failed(document: StoredDocument, error: string): StoredDocument {
  const row = { ...document.row, indexing_status: "error", display_status: "error", error };
  const details = { ...document.details, completed_at: null, indexing_latency: null };
  const chunks = document.chunks.map((chunk) => {
    return { ...chunk, row: { ...chunk.row, status: "indexing", completed_at: null } };
  });
  return { ...document, row, details, chunks };
}

/** The texts of a chunk. */
function textsOf({ row: { content, answer, keywords } }: StoredChunk): ChunkText {
  return {
    content,
    answer: typeof answer === "string" ? answer : null,
    keywords: Array.isArray(keywords) ? keywords.map(String) : null,
  };
}
