import type { Batch, StoredDataset, StoredDocument } from "../index-knowledge.js";
import type { Dataset } from "../knowledge.js";
import { batchUnderWay, restingBatch } from "./batches.js";
import { buildDocument, sumOf } from "./build-document.js";
import { type BatchOutline, type DatasetOutline, datasetId } from "./outline.js";
import { accounts } from "./stable-id.js";

/** Builds a dataset with its documents and batches. Only a batch under way asks the clock, and only it ever changes. */
export function buildDataset(outline: DatasetOutline, clock: () => Date): StoredDataset {
  const documents = outline.documents.map((document) => buildDocument(outline, document));
  const batches = outline.batches.map((batch) => buildBatch(batch, documents, clock));
  return { row: datasetRow(outline, documents), documents, batches };
}

function buildBatch(
  { id, documents: names, underWay }: BatchOutline,
  documents: readonly StoredDocument[],
  clock: () => Date,
): Batch {
  const members = documents.filter(({ row }) => names.includes(row.name));
  return underWay ? batchUnderWay(id, members, clock) : restingBatch(id, members);
}

function datasetRow(outline: DatasetOutline, documents: readonly StoredDocument[]): Dataset {
  const rows = documents.map(({ row }) => row);
  const isEconomy = outline.technique === "economy";
  const createdAt = Math.min(...rows.map(({ created_at }) => created_at));
  return {
    id: datasetId(outline),
    name: outline.name,
    description: outline.description,
    provider: "vendor",
    permission: "all_team_members",
    data_source_type: "upload_file",
    indexing_technique: outline.technique,
    app_count: 0,
    document_count: rows.length,
    word_count: sumOf(rows, "word_count"),
    created_by: accounts.author,
    author_name: "Sample author",
    created_at: createdAt,
    updated_by: accounts.author,
    updated_at: createdAt,
    embedding_model: isEconomy ? null : "text-embedding-3-small",
    embedding_model_provider: isEconomy ? null : "openai",
    embedding_available: true,
    tags: [],
    doc_form: rows[0]?.doc_form ?? null,
    doc_metadata: [],
    built_in_field_enabled: true,
    total_documents: rows.length,
    total_available_documents: rows.filter(({ error }) => error === null).length,
    enable_api: true,
    is_multimodal: false,
  };
}
