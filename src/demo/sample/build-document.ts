import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { Document } from "../knowledge.js";
import { type DocumentDetails, newDetails, newDocument } from "../store/new-document.js";
import { sampleRule } from "../store/process-rule.js";
import { buildChunk } from "./build-chunk.js";
import { type DatasetOutline, type DocumentOutline, documentId } from "./outline.js";
import { randomFrom } from "./random.js";
import { sampleFacts } from "./sample-file.js";
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
  const { name, form } = outline;
  const by = accounts.author;
  const file = sampleFacts({ id, name, fileId: stableId(`${id}/file`), by, createdAt });
  const placed = { id, name, form, position, createdAt, by, file };
  const embedsChildren = outline.embedsChildren ?? false;
  return {
    row: documentRow(outline, newDocument(placed), chunks),
    details: documentDetails(outline, newDetails(placed, "English", sampleRule(form, embedsChildren))),
    chunks,
    embedsChildren,
  };
}

function documentRow(outline: DocumentOutline, row: Document, chunks: readonly StoredChunk[]): Document {
  const error = outline.error ?? null;
  const rows = chunks.map((chunk) => chunk.row);
  return {
    ...row,
    tokens: sumOf(rows, "tokens"),
    indexing_status: error === null ? "completed" : "error",
    error,
    display_status: error === null ? "available" : "error",
    word_count: sumOf(rows, "word_count"),
    hit_count: sumOf(rows, "hit_count"),
  };
}

/** Every document of the sample took a minute. */
function documentDetails({ error }: DocumentOutline, details: DocumentDetails): DocumentDetails {
  if (error !== undefined) return details;
  return { ...details, completed_at: details.updated_at + 60, indexing_latency: 60 };
}

/** The sum of a field over rows; what is no number counts as 0. */
export function sumOf(rows: readonly { readonly [field: string]: unknown }[], field: string): number {
  return rows.reduce((sum, row) => {
    const value = row[field];
    return typeof value === "number" ? sum + value : sum;
  }, 0);
}
