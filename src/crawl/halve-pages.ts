import type { ListPage } from "../client/check-list.js";
import { pageSize } from "../client/knowledge-api.js";
import { RetryError, SkipError } from "../errors.js";
import type { ReadPage } from "./read-list.js";

/** Reads a page of so many rows. */
export type ReadSizedPage = (page: number, limit: number) => Promise<ListPage>;

/**
 * Reads pages of the full size. One that was given up after all its tries, as a service does that cannot make so large an
 * answer in time, is read again in halves, and a half that is given up in quarters.
 */
export function halvingPages(read: ReadSizedPage): ReadPage {
  return (page) => readOrHalve(read, page, pageSize);
}

async function readOrHalve(read: ReadSizedPage, page: number, limit: number): Promise<ListPage> {
  try {
    return await read(page, limit);
  } catch (error) {
    if (limit % 2 !== 0 || !wasGivenUp(error)) throw error;
    return await readHalves(read, page, limit / 2).catch((second: unknown) => {
      throw wasGivenUp(second) ? error : second;
    });
  }
}

/** Page 3 of 100 rows is pages 5 and 6 of 50. Both halves have to be of the same list. */
async function readHalves(read: ReadSizedPage, page: number, limit: number): Promise<ListPage> {
  const first = await readOrHalve(read, 2 * page - 1, limit);
  const behind = first.total - 2 * (page - 1) * limit;
  if (first.rows.length >= behind) return first;
  if (first.rows.length !== limit) throw new SkipError(`a page of ${limit} rows has ${first.rows.length}`);
  const second = await readOrHalve(read, 2 * page, limit);
  if (first.total !== second.total) {
    throw new SkipError(`the list changed from ${first.total} to ${second.total} rows while a page was read in halves`);
  }
  return { ...first, rows: [...first.rows, ...second.rows] };
}

/** Refusals to go on with do not get better with smaller pages; what was tried again and again may. */
function wasGivenUp(error: unknown): boolean {
  return error instanceof SkipError && error.cause instanceof RetryError && !error.cause.throttled;
}
