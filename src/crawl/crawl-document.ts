import type { Listed, ListPage } from "../client/check-list.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import { ListProof } from "./list-proof.js";
import { type LookAhead, mapAhead } from "./look-ahead.js";
import { type ListSize, readList, readRest } from "./read-list.js";

/** How far a document is read; a later crawl can go on from here. */
export interface Checkpoint extends ListSize {
  /** Pages of chunks that are read. */
  readonly chunkPages: number;
  /** Child lists that are read, in the order of the chunks. */
  readonly childLists: number;
}

/** Records of a document as they come, in their final order: all chunks first, then the children chunk by chunk. */
export interface Batch {
  readonly kind: "chunks" | "child_chunks";
  readonly records: readonly Listed[];
  /** The parent of child chunks; undefined for chunks. */
  readonly chunkId: string | undefined;
  /** Of the document; null where the service does not say, and with child chunks. */
  readonly docForm: string | null;
  /** Where a crawl can go on when this batch is stored; undefined in the middle of a child list. */
  readonly checkpoint: Checkpoint | undefined;
}

export interface CrawlOptions {
  readonly childChunks: "all" | "none";
  readonly lookAhead: LookAhead;
  /** Told of everything that shows that the document is not whole; it may throw to end the crawl. */
  readonly problem: (text: string) => void;
  /** Where an earlier crawl stopped, and the ids of the chunks that it read, in order. */
  readonly from?: { readonly checkpoint: Checkpoint; readonly ids: Iterable<string> } | undefined;
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
  const { lookAhead, problem, from } = options;
  const chunks = new ListProof("chunks", problem, from && { ids: from.ids, total: from.checkpoint.total });
  const readPage = (page: number) => api.chunks(document, page);
  let at = from?.checkpoint;
  for await (const page of at ? readRest(readPage, lookAhead, at, at.chunkPages) : readList(readPage, lookAhead)) {
    const size = at ?? { total: page.total, pageSize: page.rows.length, chunkPages: 0, childLists: 0 };
    at = { ...size, chunkPages: size.chunkPages + 1 };
    yield { kind: "chunks", records: chunks.add(page), chunkId: undefined, docForm: page.docForm, checkpoint: at };
  }
  chunks.finish();
  if (options.childChunks === "all" && at)
    yield* crawlChildren(api, document, [...chunks.ids].slice(at.childLists), at, options);
}

/** The child lists of these chunks, in order. */
async function* crawlChildren(
  api: KnowledgeApi,
  document: DocumentRef,
  chunkIds: readonly string[],
  start: Checkpoint,
  { lookAhead, problem }: CrawlOptions,
): AsyncGenerator<Batch> {
  let at = start;
  const readFirst = async (chunkId: string) => ({ chunkId, first: await firstChildPage(api, document, chunkId) });
  for await (const { chunkId, first } of mapAhead(chunkIds, lookAhead, readFirst)) {
    at = { ...at, childLists: at.childLists + 1 };
    if (!first) {
      problem(`chunk ${chunkId} was deleted while the document was read`);
      continue;
    }
    const children = new ListProof(`children of chunk ${chunkId}`, problem);
    for await (const page of readList((number) => api.childChunks(document, chunkId, number), lookAhead, first)) {
      const records = children.add(page);
      const checkpoint = children.isWhole ? at : undefined;
      yield { kind: "child_chunks", records, chunkId, docForm: null, checkpoint };
    }
    children.finish();
  }
}

/** Undefined when the chunk is gone, which its 404 tells; a service that does not know child lists is a SkipError. */
async function firstChildPage(
  api: KnowledgeApi,
  document: DocumentRef,
  chunkId: string,
): Promise<ListPage | undefined> {
  try {
    return await api.childChunks(document, chunkId, 1);
  } catch (error) {
    if (error instanceof SkipError && error.status === 404 && error.code === "not_found") return undefined;
    throw error;
  }
}
