import type { ListPage } from "../client/check-list.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import { ListProof } from "./list-proof.js";
import { LookAhead } from "./look-ahead.js";
import { readList } from "./read-list.js";

/** A document to read; without a filter where `status` and `keyword` are left out. */
export type DocumentToRead = Pick<DocumentRef, "datasetId" | "documentId"> & Partial<DocumentRef>;

/**
 * The pages of a document's chunks, in order, the next ones asked for ahead. Throws SkipError where the document cannot be
 * read, and where it turns out at the end, or on the way, that the list is not whole.
 */
export function readChunkPages(api: KnowledgeApi, document: DocumentToRead, ahead = 8): AsyncGenerator<ListPage> {
  const whole = { status: [], keyword: undefined, ...document };
  return provedPages("chunks", (page) => api.chunks(whole, page), ahead);
}

/** The pages of a chunk's children, likewise. */
export function readChildChunkPages(
  api: KnowledgeApi,
  document: DocumentToRead,
  chunkId: string,
  ahead = 8,
): AsyncGenerator<ListPage> {
  const whole = { status: [], keyword: undefined, ...document };
  return provedPages(`children of chunk ${chunkId}`, (page) => api.childChunks(whole, chunkId, page), ahead);
}

async function* provedPages(
  name: string,
  readPage: (page: number) => Promise<ListPage>,
  ahead: number,
): AsyncGenerator<ListPage> {
  const proof = new ListProof(name, (problem) => {
    throw new SkipError(problem);
  });
  for await (const page of readList(readPage, new LookAhead(ahead))) {
    proof.add(page);
    yield page;
  }
  proof.finish();
}
