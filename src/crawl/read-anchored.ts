import type { Listed } from "../client/check-answer.js";
import { SkipError } from "../errors.js";
import { mapAhead, type Prefetch } from "./prefetch.js";
import { type PageRead, pagesOf, type ReadPage, type ReportProblem, readList, rowsOn } from "./read-list.js";

/** A page, and facts about the list up to this page. */
export interface AnchoredPage extends PageRead {
  /** Whether the list was read from its end and its rows kept their ranks. */
  readonly isAnchored: boolean;
  /** Whether nothing was added recently. Only then, equal ranks prove that nothing before them was deleted. */
  readonly isSettled: boolean;
}

export interface AnchoredReading {
  /** The number of rows that a page is asked for. The service may send fewer. */
  readonly pageSize: number;
  readonly readPage: ReadPage;
  /**
   * Reads one row by its rank (its place in the list, from 1) and the total. The row is undefined if the service returns
   * anything else.
   */
  readonly readRow: (rank: number) => Promise<{ readonly row: Listed | undefined; readonly total: number }>;
  readonly prefetch: Prefetch;
  readonly problem: ReportProblem;
}

/** Maximum tries to find the last page of a growing list. */
const lastPageTries = 10;

/**
 * Reads a list of chunks that only grows: page 1, then the last page, then the others. At the end, requests for one row each check
 * that rows still have their ranks:
 * - the last row of page 1
 * - the first row of the last page, because the pages between are read after it. With only two pages, this is not needed if page 1 is
 *   as long as asked for: its last row shows that nothing before page 2 was deleted. If page 1 is shorter, a row may have been added
 *   to it after its rows were read, but before the service counted them.
 * - the last row of a full last page: the service counts rows after reading them, so the page may hide a row after it (see `answersOf`)
 *
 * Pages are yielded in order. Only the last one may have `isAnchored`. A list without a usable last page is read in order, and is never
 * anchored.
 *
 * Why this is a proof: the service adds a chunk after the greatest position and lists chunks by position and id, so it inserts no
 * row before an existing one. A row keeps its rank only if nothing before it was deleted. So if the ranks are unchanged, the ids
 * are a snapshot of the list at the moment of the answer with the last page, and the total of that answer matches them. The proof
 * needs three things. Positions rise strictly, because two chunks added at once get the same position, and the second may be
 * listed before the first. Indexing is finished, because it inserts rows anywhere. The list has no filter.
 *
 * A slow add breaks the assumption: it takes its position when it begins, but stores its row after others have stored rows with
 * the same and greater positions. While such an add may still be running, these other rows are young. So a list is not settled if
 * its last page has a row younger than `settledAge`, or if its total changes. The pages of an unsettled list must be read again.
 */
export async function* readAnchored(reading: AnchoredReading): AsyncGenerator<AnchoredPage> {
  const { pageSize, readPage, readRow, prefetch, problem } = reading;
  const first = await readPage(1);
  const size = rowsOn(first);
  const isLong = pagesOf({ total: first.total, pageSize: size }) > 1;
  const last = isLong && canBeAnchor(first) ? await findLastPage(reading, first.total, size) : undefined;
  if (!last) {
    for await (const page of readList(readPage, prefetch, first))
      yield { ...page, isAnchored: false, isSettled: false };
    return;
  }
  const { total } = last.page;
  const between = mapAhead(numbersBetween(1, last.number), prefetch, readPage);
  const rising = new Rising();
  let isSettled = hasSettled(last.page);
  const checked = (page: PageRead, isAnchored = false): AnchoredPage => {
    isSettled &&= page.total === total;
    const flaw = rising.flawIn(page.rows);
    if (flaw) problem(`chunks: ${flaw}, so that they cannot be read from the end`);
    return { ...page, total, isAnchored, isSettled };
  };
  yield checked(first);
  for await (const page of between) {
    if (rowsOn(page) !== size) problem(`chunks: a page of ${size} rows has ${rowsOn(page)}`);
    yield checked(page);
  }
  const anchors = [{ rank: size, row: first.rows.at(-1) }];
  if (last.number > 2 || size < pageSize) anchors.push({ rank: (last.number - 1) * size + 1, row: last.page.rows[0] });
  if (last.page.rows.length === size) anchors.push({ rank: last.number * size, row: last.page.rows.at(-1) });
  const watched: typeof readRow = async (rank) => {
    const found = await readRow(rank);
    isSettled &&= found.total === total;
    return found;
  };
  const flaws = await Promise.all(anchors.map(({ rank, row }) => flawAt(rank, row, watched)));
  const flaw = flaws.find((text) => text !== undefined);
  if (flaw) problem(flaw);
  yield checked(last.page, flaw === undefined);
}

/** Reads the row at a rank again. Describes the problem if another row is there; undefined if not. */
async function flawAt(
  rank: number,
  then: Listed | undefined,
  readRow: AnchoredReading["readRow"],
): Promise<string | undefined> {
  try {
    const { row: now } = await readRow(rank);
    const isSame = then !== undefined && then.id === now?.id && then.position === now.position;
    return isSame ? undefined : `chunks: row ${rank} changed during the read, so rows before it were added or deleted`;
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    return `chunks: row ${rank} could not be read again: ${error.message}`;
  }
}

/** Finds the last page of the list; undefined if it cannot be read, or proves nothing (see `canBeAnchor`). */
async function findLastPage(
  { readPage }: AnchoredReading,
  total: number,
  pageSize: number,
): Promise<{ readonly number: number; readonly page: PageRead } | undefined> {
  let number = pagesOf({ total, pageSize });
  for (let tries = 1; tries <= lastPageTries && number > 1; tries++) {
    const page = await readPage(number);
    if (page.rows.length > 0 && (number - 1) * pageSize + page.rows.length === page.total)
      return canBeAnchor(page) ? { number, page } : undefined;
    number = pagesOf({ total: page.total, pageSize });
  }
  return undefined;
}

function* numbersBetween(first: number, last: number): Generator<number> {
  for (let number = first + 1; number < last; number++) yield number;
}

/** Whether a page came in one answer, with rising positions and every row indexed. */
export function canBeAnchor({ rows, piece, unreadable = [] }: PageRead): boolean {
  return piece === undefined && unreadable.length === 0 && new Rising().flawIn(rows) === undefined;
}

/**
 * When a row has this age, in seconds, every add that began before it has ended: the service's locks on adding chunks last 600
 * s. The age counts from `created_at`, when the row's own add began.
 */
export const settledAge = 1_200;

/** Whether every row of a page is old enough, by the clock of the service. */
export function hasSettled({ rows, answeredAt }: PageRead): boolean {
  if (answeredAt === undefined) return false;
  return rows.every(({ created_at: at }) => typeof at === "number" && answeredAt / 1_000 - at >= settledAge);
}

/** Checks that positions rise strictly and that all rows are indexed. */
class Rising {
  #before: number | undefined;

  /** Describes the flaw in the next rows; undefined if there is none. */
  flawIn(rows: readonly Listed[]): string | undefined {
    for (const { id, position, status } of rows) {
      if (typeof position !== "number") return `chunk ${id} has no position`;
      if (status !== "completed" && status !== "error") return `chunk ${id} is not indexed yet`;
      const before = this.#before;
      this.#before = position;
      if (before !== undefined && position <= before) return `chunk ${id} does not come after the one before it`;
    }
    return undefined;
  }
}
