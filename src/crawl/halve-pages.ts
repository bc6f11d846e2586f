import type { ListPage } from "../client/check-list.js";
import { pageSize } from "../client/knowledge-api.js";
import { RetryError, SkipError } from "../errors.js";
import type { PageRead, ReadPage } from "./read-list.js";

/** Reads a page of so many rows. */
export type ReadSizedPage = (page: number, limit: number) => Promise<ListPage>;

export interface HalvingOptions {
  /** Of the list, for what is told. */
  readonly name: string;
  /** Told of a list that moves between two halves; it may throw. */
  readonly problem: (text: string) => void;
  /** Rows that the service puts on a page, where that is known; page 1 tells it else. */
  readonly size?: number | undefined;
}

/**
 * Reads pages of the full size. One that was given up after all its tries, as a service does that cannot make so large an
 * answer in time, is read again in halves, and a half that is given up in quarters.
 */
export function halvingPages(read: ReadSizedPage, { name, problem, size = pageSize }: HalvingOptions): ReadPage {
  let applied = size;

  const readOrHalve = async (page: number, limit: number, rows = limit): Promise<PageRead> => {
    try {
      return await read(page, limit);
    } catch (error) {
      if (rows % 2 !== 0 || !wasGivenUp(error)) throw error;
      return await readHalves(page, rows / 2).catch((second: unknown) => {
        throw wasGivenUp(second) ? error : second;
      });
    }
  };

  /** Page 3 of 100 rows is pages 5 and 6 of 50. */
  const readHalves = async (page: number, rows: number): Promise<PageRead> => {
    const first = await readOrHalve(2 * page - 1, rows);
    const behind = first.total - 2 * (page - 1) * rows;
    if (first.rows.length >= behind) return first;
    if (first.rows.length !== rows) throw new SkipError(`a page of ${rows} rows has ${first.rows.length}`);
    const second = await readOrHalve(2 * page, rows);
    if (first.total !== second.total) {
      problem(`total of ${name} went from ${first.total} to ${second.total} between two halves of page ${page}`);
    }
    const piece = Math.min(rows, first.piece ?? rows, second.piece ?? rows);
    return { ...second, rows: [...first.rows, ...second.rows], piece };
  };

  return async (page) => {
    const got = await readOrHalve(page, pageSize, applied);
    if (page === 1 && got.rows.length < got.total) applied = got.rows.length;
    return got;
  };
}

/** Refusals to go on with do not get better with smaller pages; what was tried again and again may. */
function wasGivenUp(error: unknown): boolean {
  return error instanceof SkipError && error.cause instanceof RetryError && !error.cause.throttled;
}
