import { createHash } from "node:crypto";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { numberIn, textIn } from "../compare/document-rows.js";
import type { ChunkTexts } from "../compare/lost/restore-plan.js";
import { readChildChunkPages, readChunkPages } from "../crawl/read-list.js";
import { SkipError } from "../errors.js";
import { attachmentsIn, type RawRecord } from "../rows/row.js";

/** A chunk as it stands in the service or in a dump, as far as a restore looks at it. */
export interface StandingChunk extends ChunkTexts {
  readonly id: string;
  readonly document_id: string | null;
  readonly enabled: boolean;
  readonly status: string | null;
  readonly attachment_ids: readonly string[];
  readonly position: number | null;
}

/** A child chunk as it stands in the service or in a dump. */
export interface StandingChild {
  readonly id: string;
  readonly segment_id: string | null;
  readonly content: string;
  readonly type: string | null;
  readonly position: number | null;
}

/** The texts that tell a chunk from others. */
type Said = Pick<ChunkTexts, "content" | "answer">;

/** Answers and rows of a dump have the same fields; one of an unexpected type counts as absent. */
export function standingChunk(record: RawRecord): StandingChunk {
  const { id, document_id, content, answer, keywords, enabled, status, attachments, position } = record;
  return {
    id: textIn(id) ?? "",
    document_id: textIn(document_id),
    content: textIn(content) ?? "",
    answer: textIn(answer),
    keywords: Array.isArray(keywords) ? keywords.map(String) : null,
    enabled: enabled !== false,
    status: textIn(status),
    attachment_ids: attachmentsIn(attachments).map((attachment) => attachment.id),
    position: numberIn(position),
  };
}

export function standingChild({ id, segment_id, content, type, position }: RawRecord): StandingChild {
  return {
    id: textIn(id) ?? "",
    segment_id: textIn(segment_id),
    content: textIn(content) ?? "",
    type: textIn(type),
    position: numberIn(position),
  };
}

/** SHA-256 of content and answer, in hex. No answer and an empty one are the same: services send either. */
export function textsHash({ content, answer }: Said): string {
  return hashOf([content, answer ?? ""]);
}

/** SHA-256 of the text of a child chunk, in hex. */
export function childHash(content: string): string {
  return hashOf([content]);
}

/** SHA-256 of keywords as a set; null where there are none: those are the service's to choose. */
export function keywordsHash(keywords: readonly string[] | null): string | null {
  return keywords && keywords.length > 0 ? hashOf(asSet(keywords)) : null;
}

export function haveSameTexts(one: Said, other: Said): boolean {
  return one.content === other.content && (one.answer ?? "") === (other.answer ?? "");
}

function asSet(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

export type Place = Pick<DocumentRef, "datasetId" | "documentId">;

/** Times that a list is read which changes while it is read. */
const readings = 3;

/** The chunks of a document, in order. */
export function readStandingChunks(api: KnowledgeApi, place: Place): Promise<readonly StandingChunk[]> {
  return readAll(() => readChunkPages(api, place), standingChunk);
}

/** The children of a chunk, in order. */
export function readChildren(api: KnowledgeApi, place: Place, chunkId: string): Promise<readonly StandingChild[]> {
  return readAll(() => readChildChunkPages(api, place, chunkId), standingChild);
}

/** A chunk of the service without its texts, so that those of a whole document need not fit into memory. */
export interface HashedChunk extends Omit<StandingChunk, "content" | "answer" | "keywords" | "document_id"> {
  readonly hash: string;
}

/** The chunks of a document, in order, by the hashes of their texts. */
export function readHashes(api: KnowledgeApi, place: Place): Promise<readonly HashedChunk[]> {
  return readAll(
    () => readChunkPages(api, place),
    (record) => {
      const chunk = standingChunk(record);
      const { id, enabled, status, attachment_ids, position } = chunk;
      return { id, enabled, status, attachment_ids, position, hash: textsHash(chunk) };
    },
  );
}

/** Whether the service could index a chunk: else it is disabled, and has the status error. */
export function isIndexed({ status, enabled }: Pick<StandingChunk, "status" | "enabled">): boolean {
  return status !== "error" && enabled;
}

/** Reads something; undefined where the service answers 404. */
export async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SkipError && error.status === 404) return undefined;
    throw error;
  }
}

/** Reads a list, and makes something of every row. A list that changes while it is read is read again. */
async function readAll<T>(
  read: () => AsyncIterable<{ readonly rows: readonly RawRecord[] }>,
  make: (record: RawRecord) => T,
): Promise<readonly T[]> {
  for (let reading = 1; ; reading++) {
    try {
      const all: T[] = [];
      for await (const { rows } of read()) for (const row of rows) all.push(make(row));
      return all;
    } catch (error) {
      if (!(error instanceof SkipError) || error.status !== undefined || reading === readings) throw error;
    }
  }
}
