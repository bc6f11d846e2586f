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
 * answer in time, is read again in halves, and a half that is given up in quarters. Where an answer was too large to be
 * taken, the pieces are at most half of the rows there are, and so are those of later pages.
 */
export function halvingPages(read: ReadSizedPage, { name, problem, size = pageSize }: HalvingOptions): ReadPage {
  let applied = size;
  let total: number | undefined;
  /** Rows above which an answer was too large. Not below a quarter of a page: one huge row must not slow down all pages. */
  let largest = Number.POSITIVE_INFINITY;

  const readOnce = async (page: number, limit: number): Promise<PageRead> => {
    const got = await read(page, limit);
    total = got.total;
    return got;
  };

  const readOrDivide = async (page: number, limit: number, rows = limit): Promise<PageRead> => {
    const known = rows > largest ? largestDivisor(rows, largest) : undefined;
    if (known !== undefined) return readPieces(page, rows, known);
    try {
      return await readOnce(page, limit);
    } catch (error) {
      const piece = await pieceAfter(error, page, rows);
      if (piece === undefined) throw error;
      return await readPieces(page, rows, piece).catch((second: unknown) => {
        throw troubleOf(second) === undefined ? second : error;
      });
    }
  };

  /** Rows of the pieces to read after this failure; undefined where smaller ones are no remedy. */
  const pieceAfter = async (error: unknown, page: number, rows: number): Promise<number | undefined> => {
    const trouble = troubleOf(error);
    if (trouble !== "too large") return trouble && rows % 2 === 0 ? rows / 2 : undefined;
    total ??= (await readOnce(1, 1).catch(() => undefined))?.total;
    const there = Math.min(rows, (total ?? Number.POSITIVE_INFINITY) - (page - 1) * rows);
    const piece = largestDivisor(rows, there / 2);
    largest = Math.min(largest, Math.max(piece ?? largest, applied / 4));
    return piece;
  };

  /** Page 3 of 100 rows is pages 5 and 6 of 50. */
  const readPieces = async (page: number, rows: number, size: number): Promise<PageRead> => {
    const before = ((page - 1) * rows) / size;
    const first = await readOrDivide(before + 1, size);
    const read = [...first.rows];
    let [last, piece] = [first, Math.min(size, first.piece ?? size)];
    for (let number = 2; number <= rows / size; number++) {
      if (read.length >= first.total - (page - 1) * rows) return number === 2 ? first : { ...last, rows: read, piece };
      if (last.rows.length !== size) throw new SkipError(`a page of ${size} rows has ${last.rows.length}`);
      last = await readOrDivide(before + number, size);
      if (last.total !== first.total) {
        problem(`total of ${name} went from ${first.total} to ${last.total} between two halves of page ${page}`);
      }
      read.push(...last.rows);
      piece = Math.min(piece, last.piece ?? piece);
    }
    return { ...last, rows: read, piece };
  };

  return async (page) => {
    const got = await readOrDivide(page, pageSize, applied);
    if (page === 1 && got.rows.length < got.total) applied = got.rows.length;
    return got;
  };
}

/** Pieces of one size have to fill a page. */
function largestDivisor(rows: number, most: number): number | undefined {
  for (let piece = Math.floor(Math.min(most, rows / 2)); piece >= 1; piece--) if (rows % piece === 0) return piece;
  return undefined;
}

/**
 * What smaller pages may help against: an answer that did not come in time, broken or with a 5xx, try after try; or one that
 * was too large. They help neither against a refusal to go on with nor where nobody is there.
 */
function troubleOf(error: unknown): "failing" | "too large" | undefined {
  if (!(error instanceof SkipError && error.cause instanceof RetryError)) return undefined;
  const { throttled, trouble } = error.cause;
  if (throttled || trouble === "gone") return undefined;
  return trouble ?? "failing";
}
