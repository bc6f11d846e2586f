/** Ways in which the chunks of a real service differ from the tidy ones. `number` counts a document's chunks from 1. */

import type { Chunk } from "../knowledge.js";
import { characters } from "./prose/compose.js";
import { accounts, stableId } from "./stable-id.js";

export type Peculiarity = (chunk: Chunk, number: number) => Chunk;

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
