import type { ChildChunk, Chunk } from "../knowledge.js";
import type { AddedChunk, ChunkChange } from "./requests.js";

export interface ChunkAnswer {
  readonly data: Chunk;
  readonly doc_form: string;
}

export interface ChunksAnswer {
  readonly data: readonly Chunk[];
  readonly doc_form: string;
}

/**
 * The writes of the service, beside the reads of `Knowledge`. Ids arrive as they stand in the path; a method that does not know one
 * throws a 404, and nothing of a refused request is stored. A chunk need not belong to the document of its path, as in releases up to
 * 1.12: every chunk of the service is found. A child chunk must belong to the chunk, and that to the document.
 */
export interface WritableKnowledge {
  readChunk(datasetId: string, documentId: string, chunkId: string): ChunkAnswer;
  addChunks(datasetId: string, documentId: string, added: readonly AddedChunk[]): Promise<ChunksAnswer>;
  updateChunk(datasetId: string, documentId: string, chunkId: string, change: ChunkChange): Promise<ChunkAnswer>;
  deleteChunk(datasetId: string, documentId: string, chunkId: string): Promise<void>;
  addChild(place: ParentIds, content: string): Promise<ChildChunk>;
  updateChild(place: ParentIds, childId: string, content: string): Promise<ChildChunk>;
  deleteChild(place: ParentIds, childId: string): Promise<void>;
}

/** The path of a chunk that has child chunks. */
export interface ParentIds {
  readonly datasetId: string;
  readonly documentId: string;
  readonly chunkId: string;
}
