import { lacksModel } from "../client/check-answer.js";
import type { Listed, ListPage } from "../client/check-list.js";
import { pageSize } from "../client/knowledge-api.js";
import { RetryError, SkipError } from "../errors.js";
import type { TellProblem } from "./problems.js";
import { type PageRead, type ReadPage, rowsOn } from "./read-list.js";

/** Reads a page of so many rows; `retries` is there where fewer tries than usual will do. */
export type ReadSizedPage = (page: number, limit: number, retries?: number) => Promise<ListPage>;

export interface HalvingOptions {
  /** Of the list, for what is told. */
  readonly name: string;
  /** Told of a list that moves between two pieces of a page; it may throw. */
  readonly problem: TellProblem;
  /** Rows that the service puts on a page, where that is known; page 1 tells it else. */
  readonly size?: number | undefined;
}

/** Rows in a row that the service may fail to render before the list is given up: with and without any answer before. */
const mostUnreadable = { answered: 25, unanswered: 5 };
/** Tries after the first for a piece of a page that the service cannot render: a bad row stays one. */
const retriesOfPiece = 2;

/** A page or a piece of one. The total is not known where no row of it could be rendered. */
interface Part extends Omit<PageRead, "total"> {
  readonly rows: readonly Listed[];
  readonly total: number | undefined;
}

/**
 * Reads pages of the full size. One that was given up after all its tries, as a service does that cannot make so large an
 * answer in time, is read again in halves, and a half that is given up in quarters. So is one that the service cannot render,
 * down to the single row: that one is left out, and named in `unreadable`. Where an answer was too large to be taken, the
 * pieces are at most half of the rows there are, and so are those of later pages.
 */
export function halvingPages(read: ReadSizedPage, { name, problem, size = pageSize }: HalvingOptions): ReadPage {
  let applied = size;
  let total: number | undefined;
  /** Rows above which an answer was too large. Not below a quarter of a page: one huge row must not slow down all pages. */
  let largest = Number.POSITIVE_INFINITY;
  let unreadableInARow = 0;

  const readOnce = async (page: number, limit: number, retries?: number): Promise<ListPage> => {
    const got = await read(page, limit, retries);
    total = got.total;
    unreadableInARow = 0;
    return got;
  };

  const readOrDivide = async (page: number, limit: number, rows = limit, retries?: number): Promise<Part> => {
    const known = rows > largest ? largestDivisor(rows, largest) : undefined;
    if (known !== undefined) return readPieces(page, rows, known);
    try {
      return await readOnce(page, limit, rows === 1 ? undefined : retries);
    } catch (error) {
      const trouble = troubleOf(error);
      if (rows === 1 && trouble === "unrendered") return withoutRow(page, error);
      const piece = trouble && (await pieceAfter(trouble, page, rows));
      if (piece === undefined) throw error;
      return await readPieces(page, rows, piece, trouble === "unrendered" ? retriesOfPiece : retries).catch(
        (second: unknown) => {
          throw troubleOf(second) === undefined ? second : error;
        },
      );
    }
  };

  /** Rows of the pieces to read after this trouble; undefined where they cannot be smaller. */
  const pieceAfter = async (trouble: Trouble, page: number, rows: number): Promise<number | undefined> => {
    if (trouble === "failing") return rows % 2 === 0 ? rows / 2 : undefined; // below a quarter, size is not its trouble
    if (trouble === "unrendered") return largestDivisor(rows, rows / 2);
    total ??= (await readOnce(1, 1).catch(() => undefined))?.total;
    const there = Math.min(rows, (total ?? Number.POSITIVE_INFINITY) - (page - 1) * rows);
    const piece = largestDivisor(rows, there / 2);
    largest = Math.min(largest, Math.max(piece ?? largest, applied / 4));
    return piece;
  };

  const withoutRow = (row: number, error: unknown): Part => {
    unreadableInARow++;
    if (unreadableInARow > (total === undefined ? mostUnreadable.unanswered : mostUnreadable.answered)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    return { rows: [], unreadable: [`row ${row} of ${name} cannot be read: ${why}`], total: undefined, docForm: null };
  };

  /** Page 3 of 100 rows is pages 5 and 6 of 50. */
  const readPieces = async (page: number, rows: number, size: number, retries?: number): Promise<Part> => {
    const before = ((page - 1) * rows) / size;
    let whole: Part | undefined;
    for (let number = 1; number <= rows / size; number++) {
      const part = await readOrDivide(before + number, size, size, retries);
      if (whole?.total !== undefined && part.total !== undefined && part.total !== whole.total) {
        problem(`total of ${name} went from ${whole.total} to ${part.total} between two halves of page ${page}`);
      }
      whole = whole ? joined(whole, part, size) : part;
      const left = whole.total === undefined ? Number.POSITIVE_INFINITY : whole.total - (page - 1) * rows;
      if (rowsOn(whole) >= left) return whole;
      if (rowsOn(part) !== size) throw new SkipError(`a page of ${size} rows has ${rowsOn(part)}`);
    }
    return whole ?? Promise.reject(new RangeError(`${rows} rows in pieces of ${size}`));
  };

  return async (page) => {
    const { total, ...got } = await readOrDivide(page, pageSize, applied);
    if (total === undefined) throw new SkipError(got.unreadable?.[0] ?? `page ${page} of ${name} cannot be read`);
    if (page === 1 && rowsOn(got) < total) applied = rowsOn(got);
    return { ...got, total };
  };
}

/** Two parts of a page as one; the total is the newest that is known. */
function joined(first: Part, second: Part, size: number): Part {
  const unreadable = [...(first.unreadable ?? []), ...(second.unreadable ?? [])];
  return {
    rows: [...first.rows, ...second.rows],
    total: second.total ?? first.total,
    docForm: second.docForm ?? first.docForm,
    piece: Math.min(size, first.piece ?? size, second.piece ?? size),
    ...(unreadable.length > 0 ? { unreadable } : {}),
  };
}

/** Pieces of one size have to fill a page. */
function largestDivisor(rows: number, most: number): number | undefined {
  for (let piece = Math.floor(Math.min(most, rows / 2)); piece >= 1; piece--) if (rows % piece === 0) return piece;
  return undefined;
}

/**
 * failing: the answer did not come in time, or broken, try after try. unrendered: the service failed over a row, which it
 * says with a 500 or with a 400 about what is in it. too large: above the bound.
 */
type Trouble = "failing" | "unrendered" | "too large";

/**
 * What smaller pages may help against. They help neither against a refusal to go on with, nor where nobody is there, nor
 * where the whole document is refused.
 */
function troubleOf(error: unknown): Trouble | undefined {
  if (!(error instanceof SkipError)) return undefined;
  if (!(error.cause instanceof RetryError)) return isAboutRow(error) ? "unrendered" : undefined;
  const { throttled, trouble, status } = error.cause;
  if (throttled || trouble === "gone") return undefined;
  return trouble ?? (status === 500 ? "unrendered" : "failing");
}

/** A 400 may be about one row, but for those that speak of the model of the dataset: they are about all. */
function isAboutRow({ status, code, message }: SkipError): boolean {
  return status === 400 && !lacksModel(code, message);
}
