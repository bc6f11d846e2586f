import type { Batch, StoredDataset, StoredDocument } from "../index-knowledge.js";
import type { Dataset } from "../knowledge.js";
import { newDataset } from "../store/new-dataset.js";
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
  const createdAt = Math.min(...rows.map(({ created_at }) => created_at));
  const { name, description, technique } = outline;
  return {
    ...newDataset({ id: datasetId(outline), name, description, technique, time: createdAt, by: accounts.author }),
    permission: "all_team_members",
    data_source_type: "upload_file",
    document_count: rows.length,
    word_count: sumOf(rows, "word_count"),
    doc_form: rows[0]?.doc_form ?? null,
    built_in_field_enabled: true,
    total_documents: rows.length,
    total_available_documents: rows.filter(({ error }) => error === null).length,
  };
}
