import type { Listed, ListPage } from "../client/check-answer.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import { halvingPages, type ReadSizedPage } from "./halve-pages.js";
import type { Prefetch } from "./prefetch.js";
import { ListProof, type PageRead, type ReadPage, type ReportProblem, readList } from "./read-list.js";

/** Pages of one list that are kept: few, since a chunk can have very many children. */
export const keptPages = 10;

/** Opens the child lists of a document. The first pages of a list that is to be kept are not asked for again. */
export class ChildLists {
  readonly #api: KnowledgeApi;
  readonly #document: DocumentRef;
  readonly #problem: ReportProblem;
  readonly #kept = new Map<string, ReadPage>();

  /** `problem` gets a list that moves between two halves of a page; it may throw. */
  constructor(api: KnowledgeApi, document: DocumentRef, problem: ReportProblem) {
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
    const list = { name: nameOf({ chunkId }), problem: this.#problem };
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

/** A child list, of which the first page is there. */
export interface OpenList {
  readonly chunkId: string;
  readonly readPage: ReadPage;
  readonly first: PageRead;
}

/** Rows of a child list as they are given out. */
export interface ListRows {
  readonly rows: readonly Listed[];
  /** Rows of the smallest piece in which the page came; undefined where it came with one answer. */
  readonly piece?: number | undefined;
  /** page: they came with a request. embedded: from the chunk, in place of all pages of its list. */
  readonly from: "page" | "embedded";
  /** Rows of the whole list, when these are the last of them; undefined before, and where the list is not whole. */
  readonly all: number | undefined;
}

export interface ListReading {
  readonly prefetch: Prefetch;
  readonly problem: ReportProblem;
}

/** The rows of a list that came whole with its first page, as most do; undefined where it did not. */
export function wholeList({ rows, total, piece, unreadable = [] }: PageRead): ListRows | undefined {
  if (rows.length !== total || unreadable.length > 0) return undefined;
  const ids = new Set(rows.map(({ id }) => id));
  return ids.size === total ? { rows, piece, from: "page", all: total } : undefined;
}

/**
 * The children of one chunk from the pages of its list. The service orders children by position alone, so that with equal
 * positions the pages repeat some rows and lack others, at every read. Such a list may come from what its chunk embeds.
 */
export function readChildList(
  list: OpenList,
  embedded: readonly Listed[] | undefined,
  reading: ListReading,
): AsyncGenerator<ListRows> {
  return embedded && mayBeTied(list.first, embedded) ? readTiedList(list, embedded, reading) : readPages(list, reading);
}

/** Page by page, as they come. */
async function* readPages(list: OpenList, { prefetch, problem }: ListReading): AsyncGenerator<ListRows> {
  const proof = new ListProof(nameOf(list), problem);
  for await (const page of pagesOf(list, prefetch)) {
    const rows = proof.add(page);
    yield { rows, piece: page.piece, from: "page", all: proof.isWhole ? proof.ids.size : undefined };
    if (proof.isStuck) break;
  }
  proof.finish();
}

/** All pages, and only then their rows, or those that the chunk embeds. */
async function* readTiedList(
  list: OpenList,
  embedded: readonly Listed[],
  { prefetch, problem }: ListReading,
): AsyncGenerator<ListRows> {
  const reported: Parameters<ReportProblem>[] = [];
  const proof = new ListProof(nameOf(list), (...what) => void reported.push(what));
  const listed: ListRows[] = [];
  let isStill = true;
  const watch = (page: PageRead) => {
    isStill &&= page.total === list.first.total;
  };
  for await (const page of pagesOf(list, prefetch, watch)) {
    const rows = proof.add(page);
    listed.push({ rows, piece: page.piece, from: "page", all: proof.isWhole ? proof.ids.size : undefined });
    if (proof.isStuck) break;
  }
  proof.finish();
  if (reported.length > 0 && isStill && holdsAll(embedded, listed)) {
    yield { rows: embedded, from: "embedded", all: embedded.length };
    return;
  }
  for (const what of reported) problem(...what);
  yield* listed;
}

/** Whether a list of several pages may have equal positions, and the children that its chunk embeds may stand for it. */
function mayBeTied({ rows, total }: PageRead, embedded: readonly Listed[]): boolean {
  return rows.length < total && embedded.length === total;
}

/** Whether everything that the pages showed is embedded: there are as many children as the list counts, each with an id of its own. */
function holdsAll(embedded: readonly Listed[], listed: readonly ListRows[]): boolean {
  const ids = new Set(embedded.map(({ id }) => id));
  return listed.every(({ rows }) => rows.every(({ id }) => ids.has(id)));
}

/** The pages of a list; `watch` sees every answer behind the first, an empty one and that of a list that is gone, too. */
function pagesOf(
  { readPage, first }: OpenList,
  prefetch: Prefetch,
  watch: (page: PageRead) => void = () => {},
): AsyncGenerator<PageRead> {
  const read = async (number: number) => {
    const page = (await unlessGone(readPage, number)) ?? noChildren;
    watch(page);
    return page;
  };
  return readList(read, prefetch, first);
}

const nameOf = ({ chunkId }: Pick<OpenList, "chunkId">): string => `children of chunk ${chunkId}`;
