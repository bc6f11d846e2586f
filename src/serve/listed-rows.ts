import type { DocumentRow } from "../normalise/document-row.js";
import type { Listed } from "../service/knowledge.js";
import type { CheckedManifest } from "../verify/check-manifest.js";

/** What the service tells of a document and a dump of chunks does not know. */
const unknownOfDocument = {
  name: null,
  position: null,
  indexing_status: null,
  display_status: null,
  created_at: null,
  tokens: null,
  word_count: null,
  hit_count: null,
  enabled: null,
  archived: null,
  error: null,
};

/** A document as the list of documents has it: what is not known is null. */
export function listedDocument({ document_id, doc_form }: DocumentRow): Listed {
  return { id: document_id, ...unknownOfDocument, doc_form };
}

/** A dataset as the list of datasets has it, with as many documents as the dump has. */
export function listedDataset(id: string, name: string | null, documents: number): Listed {
  return { id, name, document_count: documents };
}

/** The ids of the datasets of a dump, in the order of its job; those that have no document, too. */
export function datasetsOf({ options, documents }: CheckedManifest): readonly string[] {
  const named = Array.isArray(options.datasets) ? options.datasets.flatMap(idOf) : [];
  return [...new Set([...named, ...documents.map(({ dataset_id }) => dataset_id)])];
}

function idOf(dataset: unknown): readonly string[] {
  const isNamed = typeof dataset === "object" && dataset !== null && "id" in dataset;
  return isNamed && typeof dataset.id === "string" ? [dataset.id] : [];
}
