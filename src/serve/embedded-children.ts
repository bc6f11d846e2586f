import type { Manifest } from "../dump/manifest/manifest.js";
import { type DocumentRow, documentKey } from "../rows/document-row.js";

/**
 * Which documents embed their children in their chunks. The service does so where parents are paragraphs: not in documents
 * that are one parent, nor in those of text and of questions and answers, though children can exist there.
 */
export class EmbeddedChildren {
  readonly #documents = new Map<string, boolean>();

  constructor({ child_lists: lists }: Manifest) {
    for (const list of lists) {
      const { embedded, embedding } = list;
      if (embedding !== null) this.#documents.set(documentKey(list), embedding > 0);
      else if (embedded > 0) this.#documents.set(documentKey(list), true);
    }
  }

  /**
   * By what the run saw. Where an older manifest does not say: none in text_model and qa_model; else all, as clients may
   * take silence for none.
   */
  isIn(document: DocumentRow): boolean {
    const { doc_form } = document;
    return this.#documents.get(documentKey(document)) ?? (doc_form !== "text_model" && doc_form !== "qa_model");
  }
}
