import type { Listed } from "../client/check-list.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import { ListProof } from "./list-proof.js";
import { type LookAhead, mapAhead } from "./look-ahead.js";
import { readList } from "./read-list.js";

/** Records of a document as they come, in their final order: all chunks first, then the children chunk by chunk. */
export type Batch =
  | { readonly kind: "chunks"; readonly records: readonly Listed[]; readonly docForm: string | null; readonly total: number }
  | { readonly kind: "child_chunks"; readonly records: readonly Listed[]; readonly chunkId: string };

export interface CrawlOptions {
  readonly childChunks: "all" | "none";
  readonly lookAhead: LookAhead;
  /** Told of everything that shows that the document is not whole; it may throw to end the crawl. */
  readonly problem: (text: string) => void;
}

/**
 * Reads one document: every page of its chunks, then the child list of every chunk, every page of it. Rejects with
 * SkipError when the document cannot be read at all; lists that do not add up are told to `problem`.
 */
export async function* crawlDocument(
  api: KnowledgeApi,
  document: DocumentRef,
  options: CrawlOptions,
): AsyncGenerator<Batch> {
  const { lookAhead, problem } = options;
  const chunks = new ListProof("chunks", problem);
  for await (const page of readList((number) => api.chunks(document, number), lookAhead)) {
    yield { kind: "chunks", records: chunks.add(page), docForm: page.docForm, total: page.total };
  }
  chunks.finish();
  if (options.childChunks === "none") return;

  const readFirst = async (chunkId: string) => ({ chunkId, page: await firstChildPage(api, document, chunkId) });
  for await (const { chunkId, page: first } of mapAhead(chunks.ids, lookAhead, readFirst)) {
    if (!first) {
      problem(`chunk ${chunkId} was deleted while the document was read`);
      continue;
    }
    const children = new ListProof(`children of chunk ${chunkId}`, problem);
    for await (const page of readList((number) => api.childChunks(document, chunkId, number), lookAhead, first)) {
      yield { kind: "child_chunks", records: children.add(page), chunkId };
    }
    children.finish();
  }
}

/** Undefined when the chunk is gone, which its 404 tells; a service that does not know child lists is a SkipError. */
async function firstChildPage(api: KnowledgeApi, document: DocumentRef, chunkId: string) {
  try {
    return await api.childChunks(document, chunkId, 1);
  } catch (error) {
    if (error instanceof SkipError && error.status === 404 && error.code === "not_found") return undefined;
    throw error;
  }
}
