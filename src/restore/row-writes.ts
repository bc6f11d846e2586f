import type { Place } from "../client/knowledge-api.js";
import type { NewChunk, PreparedWrite, WrittenRow } from "../client/write/operations.js";
import type { Writer } from "../client/write/writer.js";
import { childHash, keywordsHash, textsHash } from "../compare/document-rows.js";
import type { ChunkTexts } from "../compare/lost/restore-plan.js";
import type { WriteFacts } from "../journal/journal-schema.js";
import type { StandingChild, StandingChunk } from "./target-rows.js";

export interface RowPlace {
  readonly writer: Writer;
  readonly place: Place;
  readonly docForm: string | null;
}

/** An unsent write to a row, with its facts for the journal. The ids of its dataset and document are added later. */
export interface RowWrite<T = WrittenRow> {
  readonly facts: Omit<WriteFacts, "dataset_id" | "document_id">;
  readonly request: PreparedWrite<T>;
}

type WrittenChunk = Pick<StandingChunk, "id" | "enabled" | "attachment_ids">;

/**
 * Sets the texts of a chunk. The service unbinds attachments that are not listed, so the request lists those of `now`. A disabled chunk
 * accepts a change only if the same request enables it.
 */
export function updateChunk(
  { writer, place, docForm }: RowPlace,
  old_id: string,
  texts: ChunkTexts,
  now: WrittenChunk,
): RowWrite {
  const { id: target_id, enabled, attachment_ids } = now;
  const body = { ...newChunk(texts, docForm), ...(enabled ? {} : { enabled: true }), attachment_ids };
  const hashes = { texts_sha256: textsHash(texts), keywords_sha256: keywordsHash(texts.keywords) };
  return {
    facts: { write: "update chunk", old_id, target_id, ...hashes },
    request: writer.updateChunk(place, target_id, body),
  };
}

/** Disables a chunk. The service ignores its texts; they are sent in case another release does not. */
export function disableChunk(
  { writer, place, docForm }: RowPlace,
  old_id: string,
  { id: target_id, attachment_ids, ...texts }: Omit<WrittenChunk, "enabled"> & ChunkTexts,
): RowWrite {
  const body = { ...newChunk(texts, docForm), enabled: false, attachment_ids };
  return {
    facts: { write: "disable chunk", old_id, target_id },
    request: writer.updateChunk(place, target_id, body),
  };
}

/** The body that adds a chunk with these texts. In qa_model documents an answer must be sent, or it is lost. */
export function newChunk(texts: ChunkTexts, docForm: string | null): NewChunk {
  const { content, answer, keywords } = texts;
  const hasAnswer = docForm === "qa_model" || (answer ?? "") !== "";
  return {
    content,
    ...(hasAnswer ? { answer: answer ?? "" } : {}),
    ...(keywords && keywords.length > 0 ? { keywords } : {}),
  };
}

type OldChild = Pick<StandingChild, "id" | "content">;

/** Adds a child chunk after the last one of `there`, the children of its chunk. */
export function addChild(
  { writer, place }: RowPlace,
  parent_id: string,
  { id: old_id, content }: OldChild,
  there: readonly OldChild[],
): RowWrite {
  const equal = there.filter((child) => child.content === content).map(({ id }) => id);
  return {
    facts: { write: "add child", old_id, parent_id, texts_sha256: childHash(content), equal },
    request: writer.addChild(place, parent_id, content),
  };
}

/** Replaces the text of a child chunk, which then counts as customized. */
export function updateChild(
  { writer, place }: RowPlace,
  parent_id: string,
  { id: old_id, content }: OldChild,
  target_id: string,
): RowWrite {
  return {
    facts: { write: "update child", old_id, target_id, parent_id, texts_sha256: childHash(content) },
    request: writer.updateChild(place, parent_id, target_id, content),
  };
}

export function deleteChild({ writer, place }: RowPlace, parent_id: string, target_id: string): RowWrite<null> {
  return {
    facts: { write: "delete child", target_id, parent_id },
    request: writer.deleteChild(place, parent_id, target_id),
  };
}
