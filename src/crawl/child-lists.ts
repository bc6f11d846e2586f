import type { Listed, ListPage } from "../client/check-answer.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import { halvingPages, type ReadSizedPage } from "./halve-pages.js";
import type { Prefetch } from "./prefetch.js";
import { ListProof, type PageRead, type ReadPage, type ReportProblem, readList } from "./read-list.js";

/** Maximum pages of a list to keep in memory. Low, because a chunk can have very many children. */
export const keptPages = 10;

/** Opens the child lists of a document. The first pages of a kept list are not requested again. */
export class ChildLists {
  readonly #api: KnowledgeApi;
  readonly #document: DocumentRef;
  readonly #problem: ReportProblem;
  readonly #kept = new Map<string, ReadPage>();

  /** `problem` is called when a list changes while one of its pages is read in pieces. It may throw. */
  constructor(api: KnowledgeApi, document: DocumentRef, problem: ReportProblem) {
    this.#api = api;
    this.#document = document;
    this.#problem = problem;
  }

  /** Reads the pages of a chunk's list. */
  open(chunkId: string): ReadPage {
    return this.#kept.get(chunkId) ?? this.#fresh(chunkId);
  }

  /** Opens a list and keeps its first pages, so that opening it again does not request them. */
  keep(chunkId: string): ReadPage {
    const read = remembering(this.open(chunkId));
    this.#kept.set(chunkId, read);
    return read;
  }

  /** Forgets the kept pages of a list. */
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

/** Used instead of a page of a child list that no longer exists. */
export const noChildren: ListPage = { rows: [], total: 0, docForm: null };

/**
 * Reads a page of a child list. Returns undefined when the chunk is gone (404 `not_found`). Throws SkipError when the service has
 * no child lists.
 */
export async function unlessGone(readPage: ReadPage, page: number): Promise<PageRead | undefined> {
  try {
    return await readPage(page);
  } catch (error) {
    if (error instanceof SkipError && error.status === 404 && error.code === "not_found") return undefined;
    throw error;
  }
}

/** A child list whose first page was read. */
export interface OpenList {
  readonly chunkId: string;
  readonly readPage: ReadPage;
  readonly first: PageRead;
}

/** Some rows of a child list. */
export interface ListRows {
  readonly rows: readonly Listed[];
  /** Rows in the smallest piece of the page; undefined if one answer held the whole page. */
  readonly piece?: number | undefined;
  /** page: from a request. embedded: from the chunk, instead of all pages of its list. */
  readonly from: "page" | "embedded";
  /** Number of rows in the whole list, if these rows complete it; otherwise undefined. */
  readonly all: number | undefined;
}

export interface ListReading {
  readonly prefetch: Prefetch;
  readonly problem: ReportProblem;
}

/** The rows of a list that fits on its first page, as most do; otherwise undefined. */
export function wholeList({ rows, total, piece, unreadable = [] }: PageRead): ListRows | undefined {
  if (rows.length !== total || unreadable.length > 0) return undefined;
  const ids = new Set(rows.map(({ id }) => id));
  return ids.size === total ? { rows, piece, from: "page", all: total } : undefined;
}

/**
 * Reads the children of one chunk from the pages of its list. The service sorts children by position only. If positions are equal,
 * the pages repeat some rows and omit others on every read. In that case, the embedded children may replace the list.
 */
export function readChildList(
  list: OpenList,
  embedded: readonly Listed[] | undefined,
  reading: ListReading,
): AsyncGenerator<ListRows> {
  return embedded && mayBeTied(list.first, embedded) ? readTiedList(list, embedded, reading) : readPages(list, reading);
}

/** Yields each page as it arrives. */
async function* readPages(list: OpenList, { prefetch, problem }: ListReading): AsyncGenerator<ListRows> {
  const proof = new ListProof(nameOf(list), problem);
  for await (const page of pagesOf(list, prefetch)) {
    const rows = proof.add(page);
    yield { rows, piece: page.piece, from: "page", all: proof.isWhole ? proof.ids.size : undefined };
    if (proof.isStuck) break;
  }
  proof.finish();
}

/** Reads all pages first, then yields their rows or the embedded children. */
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

/** Whether equal positions may hide rows, because the list has several pages, and the chunk embeds as many children as the list counts. */
function mayBeTied({ rows, total }: PageRead, embedded: readonly Listed[]): boolean {
  return rows.length < total && embedded.length === total;
}

/** Whether the chunk embeds every row that the pages showed. `embeddedChildren` and `mayBeTied` checked its ids and their number. */
function holdsAll(embedded: readonly Listed[], listed: readonly ListRows[]): boolean {
  const ids = new Set(embedded.map(({ id }) => id));
  return listed.every(({ rows }) => rows.every(({ id }) => ids.has(id)));
}

/** Reads the pages of a list. Calls `watch` with every page after the first, even if the page is empty or its list was deleted. */
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
