import { accounts, type Chunk, characters, stableId } from "../rows.js";
import type { Language, Topic } from "./prose.js";

export interface DatasetOutline {
  readonly name: string;
  readonly description: string;
  /** Economy datasets count no tokens. */
  readonly technique: "high_quality" | "economy";
  readonly documents: readonly DocumentOutline[];
  readonly batches: readonly BatchOutline[];
}

export interface DocumentOutline {
  /** A file name, unique in its dataset, because ids derive from it. */
  readonly name: string;
  readonly form: "text_model" | "qa_model" | "hierarchical_model";
  readonly topic: Topic;
  /** Chunks use them in turn; default: those of the sample. */
  readonly languages?: readonly Language[];
  readonly chunkCount: number;
  /** The number of child chunks of a chunk (numbered from 1); absent: none. */
  readonly childCount?: (number: number) => number;
  /** Whether chunks embed their children, as with paragraph parents. */
  readonly embedsChildren?: boolean;
  /** Contents to use verbatim instead of prose. */
  readonly texts?: readonly string[];
  readonly peculiarities?: readonly Peculiarity[];
  /** Whether times have a fraction of a second. */
  readonly fractionalTimes?: boolean;
  /** Why the document could not be indexed. */
  readonly error?: string;
}

/** Documents are named as in their dataset's outline. */
export interface BatchOutline {
  readonly id: string;
  readonly documents: readonly string[];
  readonly underWay: boolean;
}

/** The id of a sample dataset. */
export function datasetId(dataset: DatasetOutline): string {
  return stableId(dataset.name);
}

/** The id of a sample document. */
export function documentId(dataset: DatasetOutline, documentName: string): string {
  return stableId(`${dataset.name}/${documentName}`);
}

type Peculiarity = (chunk: Chunk, number: number) => Chunk;

export const tooLong = "Embedding failed: the input is too long";

const disabledAt = Date.UTC(2025, 4, 1, 8) / 1000;

/** Links to files in some contents, some directly followed by another. */
export const withLinks: Peculiarity = (chunk, number) => {
  if (number % 12 !== 0) return chunk;
  const file = `/files/${stableId(`${chunk.id}/figure`)}`;
  const links = [
    `![Figure ${number}](${file}/image-preview)`,
    `[Data sheet](${file}/file-preview)`,
    `[Download](${file}/file-preview) or see ![Figure ${number}](${file}/image-preview)`,
    `https://kb.example.com${file}/image-preview${file}/file-preview`,
  ];
  const content = `${chunk.content}\n\n${links[(number / 12) % links.length]}`;
  return { ...chunk, content, sign_content: content, word_count: characters(content) };
};

/** Attached files; two on some chunks. */
export const withAttachments: Peculiarity = (chunk, number) => {
  if (number % 10 !== 3) return chunk;
  const attachments = Array.from({ length: number % 20 === 3 ? 2 : 1 }, (_, index) => {
    const id = stableId(`${chunk.id}/attachment/${index}`);
    const name = `Wiring "${number}", sheet ${index + 1}.png`;
    const source_url = `/files/${id}/${index === 0 ? "file-preview" : "image-preview"}`;
    return { id, name, size: 20_480 + number, extension: "png", mime_type: "image/png", source_url };
  });
  return { ...chunk, attachments };
};

/** Summaries: a string on some chunks, an object on a few. */
export const withSummaries: Peculiarity = (chunk, number) => {
  if (number % 8 !== 5) return chunk;
  const text = `In short: ${chunk.content.slice(0, 40)}`;
  return { ...chunk, summary: number % 40 === 21 ? { text, model: "summary-small", tokens: 12 } : text };
};

/** Edited chunks and disabled chunks. */
export const withEdits: Peculiarity = (chunk, number) => {
  if (number % 50 === 7) return { ...chunk, enabled: false, disabled_at: disabledAt, disabled_by: accounts.editor };
  return number % 20 === 9 ? { ...chunk, updated_at: disabledAt, updated_by: accounts.editor } : chunk;
};

/** Nulls where the documentation promises a value. */
export const withNulls: Peculiarity = (chunk, number) =>
  number % 9 === 4 ? { ...chunk, answer: null, keywords: null, index_node_id: null, index_node_hash: null } : chunk;

/** An empty signed copy. */
export const withoutSignedCopy: Peculiarity = (chunk) => ({ ...chunk, sign_content: "" });

/** A field that no documentation of the service mentions. */
export function withLanguageHint(tagOf: (number: number) => string): Peculiarity {
  return (chunk, number) => (number % 3 === 0 ? { ...chunk, language_hint: tagOf(number) } : chunk);
}

/** Removes the fields that older servers lacked: signed copies, embedded children, attachments and summaries. */
export const asOlderServer: Peculiarity = (chunk) => {
  const { sign_content, updated_at, updated_by, child_chunks, attachments, summary, ...older } = chunk;
  return { ...older, answer: null };
};

/** Every status in turn. A chunk being replaced has the same position as the one after it. */
export const inEveryStatus: Peculiarity = (chunk, number) => {
  const unfinished = { ...chunk, index_node_hash: null, completed_at: null };
  switch (number % 8) {
    case 1:
      return { ...unfinished, status: "waiting", indexing_at: null };
    case 2:
      return { ...unfinished, status: "indexing" };
    case 3:
      return { ...unfinished, status: "error", error: tooLong, stopped_at: disabledAt };
    case 4:
      return { ...unfinished, status: "error", error: { code: "rate_limit", retry_after: 1.5, detail: [null, "\n"] } };
    case 5:
      return { ...chunk, status: "re_segment", position: number + 1 };
    default:
      return chunk;
  }
};
