import type { KnowledgeApi, Place } from "../client/knowledge-api.js";
import { numberIn, textIn, textsHash } from "../compare/document-rows.js";
import { readChildChunkPages, readChunkPages } from "../crawl/read-list.js";
import { SkipError, UnknownRouteError } from "../errors.js";
import { attachmentsIn, type RawRecord } from "../rows/row.js";

/** A chunk of the service, with the columns that a restore needs. */
export type StandingChunk = Readonly<ReturnType<typeof standingChunk>>;

export type StandingChild = Readonly<ReturnType<typeof standingChild>>;

/** From an answer of the service or a row of a dump, which have the same fields. A field of the wrong type counts as missing. */
export function standingChunk(record: RawRecord) {
  const { id, document_id, content, answer, keywords, enabled, status, attachments, position } = record;
  const words: readonly string[] | null = Array.isArray(keywords) ? keywords.map(String) : null;
  const attachment_ids: readonly string[] = attachmentsIn(attachments).map((attachment) => attachment.id);
  return {
    id: textIn(id) ?? "",
    document_id: textIn(document_id),
    content: textIn(content) ?? "",
    answer: textIn(answer),
    keywords: words,
    enabled: enabled !== false,
    status: textIn(status),
    attachment_ids,
    position: numberIn(position),
  };
}

export function standingChild({ id, segment_id, content, type, position }: RawRecord) {
  return {
    id: textIn(id) ?? "",
    segment_id: textIn(segment_id),
    content: textIn(content) ?? "",
    type: textIn(type),
    position: numberIn(position),
  };
}

/** Maximum readings of a list that changes during the read. */
const readings = 3;

export function readStandingChunks(api: KnowledgeApi, place: Place): Promise<readonly StandingChunk[]> {
  return readAll(() => readChunkPages(api, place), standingChunk);
}

export function readChildren(api: KnowledgeApi, place: Place, chunkId: string): Promise<readonly StandingChild[]> {
  return readAll(() => readChildChunkPages(api, place, chunkId), standingChild);
}

/** A chunk of the service without its texts, so that a whole document's texts need not fit into memory. */
export type HashedChunk = Pick<StandingChunk, "id" | "enabled" | "status" | "attachment_ids" | "position"> & {
  readonly hash: string;
};

/** The chunks of a document, in order, with the hashes of their texts. */
export function readHashes(api: KnowledgeApi, place: Place): Promise<readonly HashedChunk[]> {
  const hashed = (record: RawRecord) => {
    const { content, answer, keywords, document_id, ...others } = standingChunk(record);
    return { ...others, hash: textsHash({ content, answer }) };
  };
  return readAll(() => readChunkPages(api, place), hashed);
}

/** Whether the service could index a chunk. If not, it is disabled and has the status error. */
export function isIndexed({ status, enabled }: Pick<StandingChunk, "status" | "enabled">): boolean {
  return status !== "error" && enabled;
}

/** Reads something; undefined if the service does not have it. A 404 for an unknown URL, for example of a proxy, does not prove that. */
export async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SkipError && error.status === 404 && !(error instanceof UnknownRouteError)) return undefined;
    throw error;
  }
}

/** Reads a list and converts every row. Reads it again if it changes during the read. */
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
