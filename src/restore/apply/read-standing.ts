import type { DocumentRef, KnowledgeApi } from "../../client/knowledge-api.js";
import { readChildChunkPages, readChunkPages } from "../../crawl/read-pages.js";
import { SkipError } from "../../errors.js";
import type { RawRecord } from "../../rows/row.js";
import { type StandingChild, type StandingChunk, standingChild, standingChunk } from "./row-texts.js";

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

/** Reads a list, and makes something of every row. A list that changes while it is read is read again. */
export async function readAll<T>(
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
