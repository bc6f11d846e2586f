import type { ListPage } from "../client/check-list.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import { halvingPages, type ReadSizedPage } from "./halve-pages.js";
import type { TellProblem } from "./problems.js";
import type { PageRead, ReadPage } from "./read-list.js";

/** Pages of one list that are kept: few, since a chunk can have very many children. */
export const keptPages = 10;

/** Opens the child lists of a document. The first pages of a list that is to be kept are not asked for again. */
export class ChildLists {
  readonly #api: KnowledgeApi;
  readonly #document: DocumentRef;
  readonly #problem: TellProblem;
  readonly #kept = new Map<string, ReadPage>();

  /** `problem` is told of a list that moves between two halves of a page; it may throw. */
  constructor(api: KnowledgeApi, document: DocumentRef, problem: TellProblem) {
    this.#api = api;
    this.#document = document;
    this.#problem = problem;
  }

  /** Reads the pages of a chunk's list. */
  open(chunkId: string): ReadPage {
    return this.#kept.get(chunkId) ?? this.#fresh(chunkId);
  }

  /** The same, and who opens the list again has the first pages that were read. */
  keep(chunkId: string): ReadPage {
    const read = remembering(this.open(chunkId));
    this.#kept.set(chunkId, read);
    return read;
  }

  /** Forgets the pages of a list. */
  drop(chunkId: string): void {
    this.#kept.delete(chunkId);
  }

  #fresh(chunkId: string): ReadPage {
    const list = { name: `children of chunk ${chunkId}`, problem: this.#problem };
    const read: ReadSizedPage = (page, limit, retries) =>
      this.#api.childChunks(this.#document, chunkId, page, limit, retries);
    return halvingPages(read, list);
  }
}

function remembering(read: ReadPage): ReadPage {
  const pages = new Map<number, Promise<PageRead>>();
  return (page) => {
    const known = pages.get(page) ?? read(page);
    if (page <= keptPages) pages.set(page, known);
    return known;
  };
}

/** A page of a child list that there is not any more. */
export const noChildren: ListPage = { rows: [], total: 0, docForm: null };

/** Undefined when the chunk is gone, which its 404 tells; a service that does not know child lists is a SkipError. */
export async function unlessGone(readPage: ReadPage, page: number): Promise<PageRead | undefined> {
  try {
    return await readPage(page);
  } catch (error) {
    if (error instanceof SkipError && error.status === 404 && error.code === "not_found") return undefined;
    throw error;
  }
}
