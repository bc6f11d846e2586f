import type { Listed } from "../client/check-answer.js";
import { noChildren, unlessGone } from "./child-evidence.js";
import type { Prefetch } from "./prefetch.js";
import { ListProof, type PageRead, type ReadPage, type ReportProblem, readList } from "./read-list.js";

/** A child list, of which the first page is there. */
export interface OpenList {
  readonly chunkId: string;
  readonly readPage: ReadPage;
  readonly first: PageRead;
}

/** Children of one chunk as they are given out. */
export interface ChildRows {
  readonly records: readonly Listed[];
  /** Whether they came with a request of their own. */
  readonly isPage: boolean;
  readonly piece: number | undefined;
  /** Children of the chunk, when these are the last of them; undefined before, and where the list is not whole. */
  readonly all: number | undefined;
}

export interface ListReading {
  readonly prefetch: Prefetch;
  readonly problem: ReportProblem;
}

/** The children of a list that came whole with its first page, as most do; undefined where it did not. */
export function wholeList({ rows, total, piece, unreadable = [] }: PageRead): ChildRows | undefined {
  if (rows.length !== total || unreadable.length > 0) return undefined;
  const ids = new Set(rows.map(({ id }) => id));
  return ids.size === total ? { records: rows, isPage: true, piece, all: total } : undefined;
}

/**
 * The children of one chunk from the pages of its list. Where the chunk embeds as many children as a list of several pages
 * counts, they may come from there: the service orders children by position alone, so that pages repeat some and lack others
 * where positions are equal, at every read.
 */
export function readChildList(
  list: OpenList,
  embedded: readonly Listed[] | undefined,
  reading: ListReading,
): AsyncGenerator<ChildRows> {
  const { rows, total } = list.first;
  const mayBeTied = rows.length < total && embedded?.length === total;
  return mayBeTied ? readTiedList(list, embedded, reading) : readPages(list, reading);
}

/** Page by page, as they come. */
async function* readPages(list: OpenList, { prefetch, problem }: ListReading): AsyncGenerator<ChildRows> {
  const proof = new ListProof(nameOf(list), problem);
  for await (const page of pagesOf(list, prefetch)) {
    const records = proof.add(page);
    yield { records, isPage: true, piece: page.piece, all: proof.isWhole ? proof.ids.size : undefined };
    if (proof.isStuck) break;
  }
  proof.finish();
}

/**
 * All pages, and only then their rows: those of the list if it is whole, else those that the chunk embeds, if they hold
 * everything that the list showed. There are as many of them as the list counts, each with an id of its own.
 */
async function* readTiedList(
  list: OpenList,
  embedded: readonly Listed[],
  { prefetch, problem }: ListReading,
): AsyncGenerator<ChildRows> {
  const reported: Parameters<ReportProblem>[] = [];
  const proof = new ListProof(nameOf(list), (...what) => void reported.push(what));
  const pages: ChildRows[] = [];
  let isStill = true;
  const watch = (page: PageRead) => {
    isStill &&= page.total === list.first.total;
  };
  for await (const page of pagesOf(list, prefetch, watch)) {
    const records = proof.add(page);
    pages.push({ records, isPage: true, piece: page.piece, all: proof.isWhole ? proof.ids.size : undefined });
    if (proof.isStuck) break;
  }
  proof.finish();
  if (reported.length > 0 && isStill && holdsAll(embedded, pages)) {
    yield { records: [], isPage: true, piece: undefined, all: undefined };
    yield { records: embedded, isPage: false, piece: undefined, all: embedded.length };
    return;
  }
  for (const what of reported) problem(...what);
  yield* pages;
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

function holdsAll(embedded: readonly Listed[], pages: readonly ChildRows[]): boolean {
  const ids = new Set(embedded.map(({ id }) => id));
  return pages.every(({ records }) => records.every(({ id }) => ids.has(id)));
}

const nameOf = ({ chunkId }: OpenList): string => `children of chunk ${chunkId}`;
