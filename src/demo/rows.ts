import { hash } from "node:crypto";
import type { Details, Listed } from "./knowledge.js";

/** A dataset of an in-memory knowledge base. As for all rows here, only fields that the service itself reads are declared. */
export interface Dataset extends Details {
  readonly id: string;
  readonly name: string;
}

export interface Document extends Details {
  readonly id: string;
  readonly name: string;
  readonly doc_form: string;
  readonly created_at: number;
}

/** A chunk. The links in its `sign_content` and `attachments` have no signatures. */
export interface Chunk extends Details {
  readonly id: string;
  readonly position: number;
  readonly content: string;
  readonly status: string;
  readonly sign_content?: string;
  readonly attachments?: readonly Attachment[];
}

export interface Attachment extends Details {
  readonly source_url: string;
}

export interface ChildChunk extends Details {
  readonly id: string;
  readonly position: number;
  readonly content: string;
}

/** The data of an in-memory knowledge base: datasets with documents and batches, chunks, child chunks. */
export interface StoredDataset {
  readonly row: Dataset;
  readonly documents: readonly StoredDocument[];
  readonly batches: readonly Batch[];
}

export interface StoredDocument {
  readonly row: Document;
  /** The details that the list of documents lacks, if known. */
  readonly details?: Details;
  readonly chunks: readonly StoredChunk[];
  /** Whether chunks embed their children, as with paragraph parents. */
  readonly embedsChildren: boolean;
}

/** `children` is the answer of the child list; `row.child_chunks` is the list in the chunk. The two may differ. */
export interface StoredChunk {
  readonly row: Chunk;
  readonly children: readonly ChildChunk[];
}

/** Documents created together. `entries` is called on every read, so that the indexing status can progress. */
export interface Batch {
  readonly id: string;
  entries(): readonly Listed[];
}

/** A UUID (version 4 in form) that is always the same for the same name. */
export function stableId(name: string): string {
  const hex = hash("sha256", name);
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The authors of the sample data, and the owner of the key, who writes through the service. */
export const accounts = {
  author: stableId("account/author"),
  editor: stableId("account/editor"),
  owner: stableId("account/owner"),
} as const;

/** The number of characters (code points, not UTF-16 units), which the service calls word count. */
export function characters(text: string): number {
  return text.length - (text.match(/[\udc00-\udfff]/g)?.length ?? 0);
}

/** The sum of a field over rows. Anything but a number counts as 0. */
export function sumOf(rows: readonly Details[], field: string): number {
  return rows.reduce((sum, { [field]: value }) => (typeof value === "number" ? sum + value : sum), 0);
}

/** Leaves out the fields that the row does not have, because rows of older servers have fewer. */
export function known(fields: Details, row: Details): Details {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field in row));
}

/** The built-in metadata fields, the same for every dataset. They have no ids of their own. */
export const builtInFields = [
  { id: "built-in", name: "document_name", type: "string" },
  { id: "built-in", name: "uploader", type: "string" },
  { id: "built-in", name: "upload_date", type: "time" },
  { id: "built-in", name: "last_update_date", type: "time" },
  { id: "built-in", name: "source", type: "string" },
] as const;

/** Whether a dataset embeds its texts. Tokens are counted only then. */
export function isHighQuality({ indexing_technique }: Dataset): boolean {
  return indexing_technique === "high_quality";
}

/** Whether a document consists of questions and answers. */
export function isQa({ doc_form }: Pick<Document, "doc_form">): boolean {
  return doc_form === "qa_model";
}

/** The texts of a chunk. The answer counts only in documents of questions and answers. */
export interface ChunkText {
  readonly content: string;
  readonly answer?: string | null | undefined;
  readonly keywords?: readonly string[] | null | undefined;
}

/** The position of a new row. `time` is in Unix seconds; `by` is an account. */
export interface NewPosition {
  readonly id: string;
  readonly position: number;
  readonly time: number;
  readonly by: unknown;
}

/** A chunk as the service stores a new one. It has no children yet. */
export function newChunk(
  document: Pick<Document, "id" | "doc_form">,
  text: ChunkText,
  countsTokens: boolean,
  { id, position, time, by }: NewPosition,
): Chunk {
  const { content } = text;
  const answer = isQa(document) ? (text.answer ?? null) : "";
  return {
    ...{ id, position, document_id: document.id, content, sign_content: content, answer },
    ...countsOf(content, answer, countsTokens),
    ...{ keywords: text.keywords ?? [], index_node_id: stableId(`${id}/node`) },
    ...{ index_node_hash: hash("sha256", content), hit_count: 0, enabled: true, disabled_at: null, disabled_by: null },
    ...{ status: "completed", created_by: by, created_at: time, updated_at: time, updated_by: null, indexing_at: time },
    ...{ completed_at: time, error: null, stopped_at: null, child_chunks: [], attachments: [], summary: null },
  };
}

/** The counts of a chunk. Three characters count as a token. */
export function countsOf(content: string, answer: unknown, countsTokens: boolean) {
  const word_count = characters(content) + (typeof answer === "string" ? characters(answer) : 0);
  return { word_count, tokens: countsTokens ? Math.ceil(word_count / 3) : 0 };
}

/** A new child chunk, without edits. */
export function newChild(
  segmentId: string,
  content: string,
  type: "automatic" | "customized",
  { id, position, time }: Omit<NewPosition, "by">,
): ChildChunk {
  const word_count = characters(content);
  return { id, segment_id: segmentId, content, position, word_count, type, created_at: time, updated_at: time };
}

/** The chunk with other children, which it embeds if its document does. */
export function withChildren(
  { row }: StoredChunk,
  children: readonly ChildChunk[],
  { embedsChildren }: StoredDocument,
): StoredChunk {
  return { row: embedsChildren ? { ...row, child_chunks: children } : row, children };
}
