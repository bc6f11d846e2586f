import type { Listed, ListPage } from "../client/check-answer.js";
import { type DocumentRef, type KnowledgeApi, pageSize } from "../client/knowledge-api.js";
import { SkipError, shortened } from "../errors.js";
import { IdSet } from "./id-set.js";
import { mapAhead, Prefetch } from "./prefetch.js";

/** A page as it was read: with one answer, unless it says otherwise. */
export interface PageRead extends ListPage {
  /** Rows of the smallest piece that was asked for, where the page could not be had whole. */
  readonly piece?: number | undefined;
  /** A sentence for each row of it that the service could not render, and that is not among `rows`. */
  readonly unreadable?: readonly string[] | undefined;
}

/** Rows that stand on a page, those that the service could not render included. */
export const rowsOn = ({ rows, unreadable = [] }: Pick<PageRead, "rows" | "unreadable">): number =>
  rows.length + unreadable.length;

/**
 * Answers that a page stands for, at the least. A full one does not show that the list ends with it: a service that counts the
 * rows after it has read them counts one too few if one is deleted in between, and hides the row behind the page.
 */
export const answersOf = ({ rows, piece }: Pick<PageRead, "rows" | "piece">): number =>
  piece === undefined && rows.length !== pageSize ? 1 : 2;

/** Reads the page of a list with this number, from 1. */
export type ReadPage = (page: number) => Promise<PageRead>;

/** The size of a list, as its first page tells it. */
export interface ListSize {
  /** Rows that the service counts. */
  readonly total: number;
  /** Rows on page 1: where rows are left, that is what the service puts on a page. */
  readonly pageSize: number;
}

/**
 * The pages of a list in order. Page 1 tells how many there are; the others are asked for ahead. The given `first` page is
 * not asked for again.
 */
export async function* readList(readPage: ReadPage, prefetch: Prefetch, first?: PageRead): AsyncGenerator<PageRead> {
  const page = first ?? (await readPage(1));
  yield page;
  const size = { total: page.total, pageSize: rowsOn(page) };
  if (pagesOf(size) > 1) yield* readRest(readPage, prefetch, size, 1);
}

/** The pages behind the first `read` ones. Ends early at one that is empty although rows are missing: the proof says so. */
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

/** Pages of a list, as its first one tells. */
export function pagesOf({ total, pageSize }: ListSize): number {
  return pageSize > 0 ? Math.ceil(total / pageSize) : 1;
}

/**
 * The numbers of the pages behind the first `read` ones. `total` decides: `has_more` lies and `limit` only echoes what was
 * asked. A service that ignores paging gives all rows on page 1.
 */
export function* pagesBehind(read: number, size: ListSize): Generator<number> {
  const pages = pagesOf(size);
  for (let page = read + 1; page <= pages; page++) yield page;
}

/** A document to read; without a filter where `status` and `keyword` are left out. */
type DocumentToRead = Pick<DocumentRef, "datasetId" | "documentId"> & Partial<DocumentRef>;

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
  for await (const page of readList(readPage, new Prefetch(ahead))) {
    proof.add(page);
    yield page;
  }
  proof.finish();
}

/** Facts about a list that are known before its first page comes. */
export interface KnownList {
  readonly ids?: IdSet | undefined;
  readonly total?: number | undefined;
  readonly unreadable?: number | undefined;
}

/**
 * The proof that a list was read whole: `total` the same on every page, no id twice, as many ids as `total`, together with the
 * rows that the service could not render. It takes the pages in order and makes no requests.
 */
export class ListProof {
  readonly #ids: IdSet;
  readonly #name: string;
  readonly #problem: ReportProblem;
  #unreadable: number;
  #total: number | undefined;
  #pagesInVain = 0;

  /**
   * `problem` gets what is wrong; it may throw, or return to keep what there is. `known` is what an earlier process read
   * of the list, to whose ids the proof adds, or what an earlier sweep says of its size.
   */
  constructor(name: string, problem: ReportProblem, known: KnownList = {}) {
    this.#name = name;
    this.#problem = problem;
    this.#ids = known.ids ?? new IdSet();
    this.#total = known.total;
    this.#unreadable = known.unreadable ?? 0;
  }

  /** In the order of the service, each once. */
  get ids(): Pick<IdSet, "size" | "at"> {
    return this.#ids;
  }

  /** Whether as many ids have come as the service counts. */
  get isWhole(): boolean {
    return this.#ids.size + this.#unreadable === this.#total;
  }

  /** Rows that the service could not render. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** Whether three pages in a row brought nothing new: a service that repeats itself comes to no end, whatever it counts. */
  get isStuck(): boolean {
    return this.#pagesInVain >= 3;
  }

  /** Takes the next page and gives the rows of it that no earlier page had. */
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

  /** To be called after the last page. */
  finish(): void {
    if (!this.isWhole) {
      const listed = this.#ids.size + this.#unreadable;
      this.#problem(`${this.#name}: the service counts ${this.#total ?? "no"} and lists ${listed}`);
    }
  }
}

/** Problems of each kind that are remembered. */
const remembered = 5;

/**
 * The meaning of a problem. moved: the list was changed, or its pages contradict each other. grew: its total rose, and nothing
 * else is known to be wrong. unreadable: the service cannot render some of its rows, and reading again is no remedy.
 */
export type ProblemKind = "moved" | "grew" | "unreadable";

/** Receives everything that shows that a list is not whole; it may throw to end the reading. */
export type ReportProblem = (text: string, kind?: ProblemKind) => void;

/** The first problems of a reading. */
export interface ProblemsSoFar {
  readonly problems: readonly string[];
  /** A sentence for each of the first rows that the service cannot render. */
  readonly unreadable: readonly string[];
}

/** Passes problems on and remembers the first of each kind, those of an earlier crawl before all others. */
export class Problems {
  readonly #problems: string[] = [];
  readonly #unreadable: string[] = [];
  readonly #problem: ReportProblem;

  /** `problem` gets each; it may throw. */
  constructor(problem: ReportProblem, earlier?: ProblemsSoFar) {
    this.#problem = problem;
    for (const text of earlier?.unreadable ?? []) this.report(text, "unreadable");
    for (const text of earlier?.problems ?? []) this.report(text);
  }

  readonly report: ReportProblem = (problem, kind) => {
    const text = shortened(problem); // it can name an id of any length
    const list = kind === "unreadable" ? this.#unreadable : this.#problems;
    if (list.length < remembered) list.push(text);
    this.#problem(text, kind);
  };

  get first(): ProblemsSoFar {
    return { problems: [...this.#problems], unreadable: [...this.#unreadable] };
  }
}
