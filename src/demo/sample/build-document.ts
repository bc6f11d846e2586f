import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { Document } from "../knowledge.js";
import { buildChunk } from "./build-chunk.js";
import { type DatasetOutline, type DocumentOutline, documentId } from "./outline.js";
import { randomFrom } from "./random.js";
import { accounts, stableId } from "./stable-id.js";

const firstDay = Date.UTC(2025, 0, 6, 8) / 1000;
const day = 86_400;

/** Builds a document with all its chunks; it is the same whenever and wherever it is built. */
export function buildDocument(dataset: DatasetOutline, outline: DocumentOutline): StoredDocument {
  const id = documentId(dataset, outline.name);
  const position = dataset.documents.indexOf(outline) + 1;
  const createdAt = firstDay + position * day;
  const countsTokens = dataset.technique === "high_quality";
  const source = { documentId: id, outline, countsTokens, createdAt, random: randomFrom(id) };
  const chunks = Array.from({ length: outline.chunkCount }, (_, index) => buildChunk(source, index + 1));
  const row = documentRow(outline, { id, position, createdAt, chunks });
  return { row, chunks, embedsChildren: outline.embedsChildren ?? false };
}

interface Placed {
  readonly id: string;
  readonly position: number;
  readonly createdAt: number;
  readonly chunks: readonly StoredChunk[];
}

function documentRow(outline: DocumentOutline, { id, position, createdAt, chunks }: Placed): Document {
  const rows = chunks.map(({ row }) => row);
  const fileId = stableId(`${id}/file`);
  const error = outline.error ?? null;
  return {
    id,
    position,
    data_source_type: "upload_file",
    data_source_info: { upload_file_id: fileId },
    data_source_detail_dict: { upload_file: { id: fileId, name: outline.name } },
    dataset_process_rule_id: stableId(`${id}/rule`),
    name: outline.name,
    created_from: "api",
    created_by: accounts.author,
    created_at: createdAt,
    tokens: sumOf(rows, "tokens"),
    indexing_status: error === null ? "completed" : "error",
    error,
    enabled: true,
    disabled_at: null,
    disabled_by: null,
    archived: false,
    display_status: error === null ? "available" : "error",
    word_count: sumOf(rows, "word_count"),
    hit_count: sumOf(rows, "hit_count"),
    doc_form: outline.form,
    doc_metadata: [],
    summary_index_status: null,
    need_summary: false,
  };
}

/** The sum of a field over rows; what is no number counts as 0. */
export function sumOf(rows: readonly { readonly [field: string]: unknown }[], field: string): number {
  return rows.reduce((sum, row) => {
    const value = row[field];
    return typeof value === "number" ? sum + value : sum;
  }, 0);
}
