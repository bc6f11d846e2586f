import { hash } from "node:crypto";
import type { Chunk } from "../knowledge.js";
import type { StoredFile } from "../store/file-store.js";
import { characters, type Language, type Topic } from "./prose.js";

export interface DatasetOutline {
  readonly name: string;
  readonly description: string;
  /** Economy datasets count no tokens. */
  readonly technique: "high_quality" | "economy";
  readonly documents: readonly DocumentOutline[];
  readonly batches: readonly BatchOutline[];
}

export interface DocumentOutline {
  /** A file name, unique in its dataset: ids are made from it. */
  readonly name: string;
  readonly form: "text_model" | "qa_model" | "hierarchical_model";
  readonly topic: Topic;
  /** The chunks take turns in them; in those of the sample by default. */
  readonly languages?: readonly Language[];
  readonly chunkCount: number;
  /** How many child chunks the chunk with this number (from 1) has; none when absent. */
  readonly childCount?: (number: number) => number;
  /** Whether chunks embed their children, as those of paragraph parents do. */
  readonly embedsChildren?: boolean;
  /** Contents to use word for word instead of prose. */
  readonly texts?: readonly string[];
  readonly peculiarities?: readonly Peculiarity[];
  /** Whether times have a fraction of a second. */
  readonly fractionalTimes?: boolean;
  /** Why the document could not be indexed. */
  readonly error?: string;
}

/** Documents are named as in the outline of their dataset. */
export interface BatchOutline {
  readonly id: string;
  readonly documents: readonly string[];
  readonly underWay: boolean;
}

/** The id of a dataset of the sample. */
export function datasetId(dataset: DatasetOutline): string {
  return stableId(dataset.name);
}

/** The id of a document of the sample. */
export function documentId(dataset: DatasetOutline, documentName: string): string {
  return stableId(`${dataset.name}/${documentName}`);
}

type Peculiarity = (chunk: Chunk, number: number) => Chunk;

const disabledAt = Date.UTC(2025, 4, 1, 8) / 1000;

/** Links to files in some contents, also with another right behind. */
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

/** Attached files, on some chunks two. */
export const withAttachments: Peculiarity = (chunk, number) => {
  if (number % 10 !== 3) return chunk;
  const attachments = Array.from({ length: number % 20 === 3 ? 2 : 1 }, (_, index) => {
    const id = stableId(`${chunk.id}/attachment/${index}`);
    return {
      id,
      name: `Wiring "${number}", sheet ${index + 1}.png`,
      size: 20_480 + number,
      extension: "png",
      mime_type: "image/png",
      source_url: `/files/${id}/${index === 0 ? "file-preview" : "image-preview"}`,
    };
  });
  return { ...chunk, attachments };
};

/** Summaries: a string on some chunks, an object on a few. */
export const withSummaries: Peculiarity = (chunk, number) => {
  if (number % 8 !== 5) return chunk;
  const text = `In short: ${chunk.content.slice(0, 40)}`;
  return { ...chunk, summary: number % 40 === 21 ? { text, model: "summary-small", tokens: 12 } : text };
};

/** Chunks that somebody edited, and chunks that somebody switched off. */
export const withEdits: Peculiarity = (chunk, number) => {
  if (number % 50 === 7) return { ...chunk, enabled: false, disabled_at: disabledAt, disabled_by: accounts.editor };
  return number % 20 === 9 ? { ...chunk, updated_at: disabledAt, updated_by: accounts.editor } : chunk;
};

/** Nulls where the description promises a value. */
export const withNulls: Peculiarity = (chunk, number) =>
  number % 9 === 4 ? { ...chunk, answer: null, keywords: null, index_node_id: null, index_node_hash: null } : chunk;

/** A signed copy that is left empty. */
export const withoutSignedCopy: Peculiarity = (chunk) => ({ ...chunk, sign_content: "" });

/** A field that no description of the service names. */
export function withLanguageHint(tagOf: (number: number) => string): Peculiarity {
  return (chunk, number) => (number % 3 === 0 ? { ...chunk, language_hint: tagOf(number) } : chunk);
}

/** The fields that servers had before signed copies, embedded children, attachments and summaries came. */
export const asOlderServer: Peculiarity = (chunk) => {
  const { sign_content, updated_at, updated_by, child_chunks, attachments, summary, ...older } = chunk;
  return { ...older, answer: null };
};

/** Every status in turn. A chunk that is being replaced stands at the position of the one that follows it. */
export const inEveryStatus: Peculiarity = (chunk, number) => {
  const unfinished = { ...chunk, index_node_hash: null, completed_at: null };
  switch (number % 8) {
    case 1:
      return { ...unfinished, status: "waiting", indexing_at: null };
    case 2:
      return { ...unfinished, status: "indexing" };
    case 3:
      return {
        ...unfinished,
        status: "error",
        error: "Embedding failed: the input is too long",
        stopped_at: disabledAt,
      };
    case 4:
      return { ...unfinished, status: "error", error: { code: "rate_limit", retry_after: 1.5, detail: [null, "\n"] } };
    case 5:
      return { ...chunk, status: "re_segment", position: number + 1 };
    default:
      return chunk;
  }
};

/** A UUID (version 4 in shape) that is always the same for the same name. */
export function stableId(name: string): string {
  const hex = hash("sha256", name);
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The people who wrote the sample data, and the owner of the key, who writes through the service. */
export const accounts = {
  author: stableId("account/author"),
  editor: stableId("account/editor"),
  owner: stableId("account/owner"),
} as const;

/** A document whose file is made up: the same at every read. */
interface FiledDocument {
  readonly id: string;
  readonly name: string;
  readonly fileId: string;
  readonly by: string;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** The facts of the file of a sample document, as the service reports them. */
export function sampleFacts({ id, name, fileId, by, createdAt }: FiledDocument): StoredFile["facts"] {
  return {
    id: fileId,
    name,
    size: Buffer.byteLength(sampleText(id, name)),
    extension: name.split(".").at(-1) ?? "",
    mime_type: "text/plain",
    created_by: by,
    created_at: createdAt,
  };
}

/** A stable text of some kilobytes. */
export function sampleText(id: string, name: string): string {
  const lines = 100 + (Number.parseInt(id.slice(0, 4), 16) % 400 || 0);
  return Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1} of the original file\n`).join("");
}
