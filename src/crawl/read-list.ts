import type { Listed, ListPage } from "../client/check-answer.js";
import { type DocumentRef, type KnowledgeApi, type Place, pageSize } from "../client/knowledge-api.js";
import { SkipError, shortened } from "../errors.js";
import { IdSet } from "./id-set.js";
import { mapAhead, Prefetch } from "./prefetch.js";

/** A page, read in one answer unless `piece` is set. */
export interface PageRead extends ListPage {
  /** Rows in the smallest piece, if the page had to be read in pieces. */
  readonly piece?: number | undefined;
  /** A sentence for each row that the service could not render. Such rows are not in `rows`. */
  readonly unreadable?: readonly string[] | undefined;
}

/** The number of rows on a page, including those that the service could not render. */
export const rowsOn = ({ rows, unreadable = [] }: Pick<PageRead, "rows" | "unreadable">): number =>
  rows.length + unreadable.length;

/**
 * How many answers a page counts for, at least. A full page counts for two, because it does not prove that the list ends there:
 * the service counts rows after reading them. If a row is deleted in between, the total equals the page, although a row follows it.
 */
export const answersOf = ({ rows, piece }: Pick<PageRead, "rows" | "piece">): number =>
  piece === undefined && rows.length !== pageSize ? 1 : 2;

/** Reads a page of a list by number, from 1. */
export type ReadPage = (page: number) => Promise<PageRead>;

/** The size of a list, from its first page. */
export interface ListSize {
  /** Rows that the service counts. */
  readonly total: number;
  /** Rows on page 1. If more rows follow, this is the service's page size. */
  readonly pageSize: number;
}

/** The pages of a list in order. Page 1 gives their number; the others are prefetched. A given `first` page is not requested again. */
export async function* readList(readPage: ReadPage, prefetch: Prefetch, first?: PageRead): AsyncGenerator<PageRead> {
  const page = first ?? (await readPage(1));
  yield page;
  const size = { total: page.total, pageSize: rowsOn(page) };
  if (pagesOf(size) > 1) yield* readRest(readPage, prefetch, size, 1);
}

/**
 * The pages of a list that are left after the first `read` pages. Stops at an empty page even if rows are missing; the proof
 * reports that.
 */
export async function* readRest(
  readPage: ReadPage,
  prefetch: Prefetch,
  size: ListSize,
  read: number,
): AsyncGenerator<PageRead> {
  for await (const page of mapAhead(pagesBehind(read, size), prefetch, readPage)) {
    if (rowsOn(page) === 0) return;
    yield page;
  }
}

export function pagesOf({ total, pageSize }: ListSize): number {
  return pageSize > 0 ? Math.ceil(total / pageSize) : 1;
}

/**
 * The numbers of the pages that are left after the first `read` pages. Only `total` counts: `has_more` is unreliable, and
 * `limit` just echoes the request. A service that ignores paging returns all rows on page 1.
 */
export function* pagesBehind(read: number, size: ListSize): Generator<number> {
  const pages = pagesOf(size);
  for (let page = read + 1; page <= pages; page++) yield page;
}

/** A document to read, without a filter unless `status` or `keyword` is given. */
type DocumentToRead = Place & Partial<DocumentRef>;

/**
 * The pages of a document's chunks, in order and prefetched. Throws SkipError if the document cannot be read, or as soon as the
 * list turns out to be incomplete.
 */
export function readChunkPages(api: KnowledgeApi, document: DocumentToRead, ahead = 8): AsyncGenerator<ListPage> {
  const whole = { status: [], keyword: undefined, ...document };
  return provedPages("chunks", (page) => api.chunks(whole, page), ahead);
}

/** Like readChunkPages, for the child list of one chunk. */
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
  for await (const page of readList(readPage, new Prefetch(ahead))) {
    proof.add(page);
    yield page;
  }
  proof.finish();
}

/** Facts about a list that are known before its first page. */
export interface KnownList {
  readonly ids?: IdSet | undefined;
  readonly total?: number | undefined;
  readonly unreadable?: number | undefined;
}

/**
 * Proves that a list was read completely: the same `total` on every page, no id twice, and as many ids as `total`, counting rows
 * that the service could not render. Takes the pages in order and makes no requests.
 */
export class ListProof {
  readonly #ids: IdSet;
  readonly #name: string;
  readonly #problem: ReportProblem;
  #unreadable: number;
  #total: number | undefined;
  #pagesInVain = 0;

  /**
   * `problem` is called with each flaw. It may throw, or return to continue. `known`: the ids that an earlier process read, or
   * the size from an earlier sweep.
   */
  constructor(name: string, problem: ReportProblem, known: KnownList = {}) {
    this.#name = name;
    this.#problem = problem;
    this.#ids = known.ids ?? new IdSet();
    this.#total = known.total;
    this.#unreadable = known.unreadable ?? 0;
  }

  /** Distinct ids in the order of the service. */
  get ids(): Pick<IdSet, "size" | "at"> {
    return this.#ids;
  }

  /** Whether as many rows as the service counts were read. */
  get isWhole(): boolean {
    return this.#ids.size + this.#unreadable === this.#total;
  }

  /** Rows that the service could not render. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** Whether three pages in a row had no new rows. Then stop: a service that repeats rows could keep the reader busy for very long. */
  get isStuck(): boolean {
    return this.#pagesInVain >= 3;
  }

  /** Takes the next page and returns the rows that no earlier page had. */
  add(page: PageRead): readonly Listed[] {
    if (this.#total !== undefined && page.total !== this.#total) {
      const kind = page.total > this.#total ? "grew" : "moved";
      this.#problem(`total of ${this.#name} went from ${this.#total} to ${page.total} between two pages`, kind);
    }
    this.#total = page.total;
    for (const text of page.unreadable ?? []) this.#problem(text, "unreadable");
    this.#unreadable += page.unreadable?.length ?? 0;
    const before = this.#ids.size;
    const rows = page.rows.filter(({ id }) => this.#ids.add(id));
    const repeated = page.rows.length - (this.#ids.size - before);
    if (repeated > 0) this.#problem(`${repeated} of ${page.rows.length} ids on a page of ${this.#name} came before`);
    this.#pagesInVain = rows.length > 0 || page.unreadable?.length ? 0 : this.#pagesInVain + 1;
    return rows;
  }

  /** Reports what is missing at the end of the list. Call it after the last page. */
  finish(): void {
    if (!this.isWhole) {
      const listed = this.#ids.size + this.#unreadable;
      this.#problem(`${this.#name}: the service counts ${this.#total ?? "no"} and lists ${listed}`);
    }
  }
}

/** Maximum problems to remember of each kind. */
const remembered = 5;

/**
 * moved: the list changed, or its pages contradict each other. grew: its total rose, and nothing else is wrong. unreadable: the
 * service cannot render some rows, and reading again does not help.
 */
export type ProblemKind = "moved" | "grew" | "unreadable";

/** Called for every sign that a list is incomplete. It may throw to end the reading. */
export type ReportProblem = (text: string, kind?: ProblemKind) => void;

/** The first problems of a reading. */
export interface ProblemsSoFar {
  readonly problems: readonly string[];
  /** A sentence for each of the first rows that the service cannot render. */
  readonly unreadable: readonly string[];
}

/** Forwards problems and remembers the first of each kind. Those of an earlier crawl come first. */
export class Problems {
  readonly #problems: string[] = [];
  readonly #unreadable: string[] = [];
  readonly #problem: ReportProblem;

  /** `problem` is called with each problem, and may throw. `earlier`: the problems of an earlier crawl. */
  constructor(problem: ReportProblem, earlier?: ProblemsSoFar) {
    this.#problem = problem;
    for (const text of earlier?.unreadable ?? []) this.report(text, "unreadable");
    for (const text of earlier?.problems ?? []) this.report(text);
  }

  readonly report: ReportProblem = (problem, kind) => {
    const text = shortened(problem); // an id in it can have any length
    const list = kind === "unreadable" ? this.#unreadable : this.#problems;
    if (list.length < remembered) list.push(text);
    this.#problem(text, kind);
  };

  get first(): ProblemsSoFar {
    return { problems: [...this.#problems], unreadable: [...this.#unreadable] };
  }
}
