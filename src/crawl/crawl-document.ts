import type { Listed, ListPage } from "../client/check-list.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import { halvingPages } from "./halve-pages.js";
import { ListProof } from "./list-proof.js";
import { type LookAhead, mapAhead } from "./look-ahead.js";
import { type ListSize, type PageRead, type ReadPage, readList, readRest } from "./read-list.js";

/** Problems that a checkpoint remembers. */
const remembered = 5;

/** How far a document is read; a later crawl can go on from here. */
export interface Checkpoint extends ListSize {
  /** Pages of chunks that are read. */
  readonly chunkPages: number;
  /** Child lists that are read, in the order of the chunks. */
  readonly childLists: number;
  /** Rows of the smallest piece of a page of children, where one could not be had whole. */
  readonly childPiece?: number | undefined;
  /** The first problems so far: who goes on must not take for whole what was not. */
  readonly problems: readonly string[];
}

/** Records of a document as they come, in their final order: all chunks first, then the children chunk by chunk. */
export interface Batch {
  readonly kind: "chunks" | "child_chunks";
  readonly records: readonly Listed[];
  /** The parent of child chunks; undefined for chunks. */
  readonly chunkId: string | undefined;
  /** Of the document; null where the service does not say, and with child chunks. */
  readonly docForm: string | null;
  /** Rows of the smallest piece in which the page came; undefined when it came with one answer. */
  readonly piece: number | undefined;
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
  const { lookAhead, from } = options;
  const problems = new Problems(options.problem, from?.checkpoint.problems);
  const chunks = new ListProof("chunks", problems.tell, from && { ids: from.ids, total: from.checkpoint.total });
  const readPage = halvingPages((page, limit) => api.chunks(document, page, limit), {
    name: "chunks",
    problem: problems.tell,
    size: from?.checkpoint.pageSize,
  });
  let at = from?.checkpoint;
  for await (const page of at ? readRest(readPage, lookAhead, at, at.chunkPages) : readList(readPage, lookAhead)) {
    const records = chunks.add(page);
    const size = at ?? { total: page.total, pageSize: page.rows.length, chunkPages: 0, childLists: 0 };
    at = { ...size, chunkPages: size.chunkPages + 1, problems: problems.first };
    yield { kind: "chunks", records, chunkId: undefined, docForm: page.docForm, piece: page.piece, checkpoint: at };
    if (chunks.isStuck) break;
  }
  chunks.finish();
  if (options.childChunks === "all" && at)
    yield* crawlChildren(api, document, [...chunks.ids].slice(at.childLists), at, lookAhead, problems);
}

/** The child lists of these chunks, in order. */
async function* crawlChildren(
  api: KnowledgeApi,
  document: DocumentRef,
  chunkIds: readonly string[],
  start: Checkpoint,
  lookAhead: LookAhead,
  problems: Problems,
): AsyncGenerator<Batch> {
  let at = start;
  const readFirst = async (chunkId: string) => {
    const list = { name: `children of chunk ${chunkId}`, problem: problems.tell };
    const read = halvingPages((page, limit) => api.childChunks(document, chunkId, page, limit), list);
    return { chunkId, read, first: await unlessGone(read, 1) };
  };
  for await (const { chunkId, read, first } of mapAhead(chunkIds, lookAhead, readFirst)) {
    at = { ...at, childLists: at.childLists + 1 };
    if (!first) {
      problems.tell(`chunk ${chunkId} was deleted while the document was read`);
      continue;
    }
    const children = new ListProof(`children of chunk ${chunkId}`, problems.tell);
    const readPage = async (page: number) => (await unlessGone(read, page)) ?? nothing;
    for await (const page of readList(readPage, lookAhead, first)) {
      const records = children.add(page);
      const { piece = at.childPiece } = page;
      at = { ...at, childPiece: piece === undefined ? undefined : Math.min(piece, at.childPiece ?? piece) };
      const checkpoint = children.isWhole ? { ...at, problems: problems.first } : undefined;
      yield { kind: "child_chunks", records, chunkId, docForm: null, piece: page.piece, checkpoint };
      if (children.isStuck) break;
    }
    children.finish();
  }
}

const nothing: ListPage = { rows: [], total: 0, docForm: null };

/** Undefined when the chunk is gone, which its 404 tells; a service that does not know child lists is a SkipError. */
async function unlessGone(readPage: ReadPage, page: number): Promise<PageRead | undefined> {
  try {
    return await readPage(page);
  } catch (error) {
    if (error instanceof SkipError && error.status === 404 && error.code === "not_found") return undefined;
    throw error;
  }
}

/** Passes problems on and remembers the first of them, those of an earlier crawl before all others. */
class Problems {
  readonly #first: string[] = [];
  readonly #problem: (text: string) => void;

  constructor(problem: (text: string) => void, earlier: readonly string[] = []) {
    this.#problem = problem;
    for (const text of earlier) this.tell(text);
  }

  readonly tell = (text: string): void => {
    if (this.#first.length < remembered) this.#first.push(text);
    this.#problem(text);
  };

  get first(): readonly string[] {
    return [...this.#first];
  }
}
