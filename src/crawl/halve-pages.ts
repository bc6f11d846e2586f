import type { Listed, ListPage } from "../client/check-answer.js";
import { pageSize } from "../client/knowledge-api.js";
import { lacksModel } from "../client/refused-answer.js";
import { GaveUpError, SkipError } from "../errors.js";
import { type PageRead, type ReadPage, type ReportProblem, rowsOn } from "./read-list.js";

/** Reads a page of `limit` rows. `retries`: how often to retry, if less than usual. */
export type ReadSizedPage = (page: number, limit: number, retries?: number) => Promise<ListPage>;

interface HalvingOptions {
  /** The name of the list in messages. */
  readonly name: string;
  /** Called when a list changes between two pieces of a page. It may throw. */
  readonly problem: ReportProblem;
  /** Rows that the service puts on a page, if known; otherwise learned from page 1. */
  readonly size?: number | undefined;
}

/** Maximum unreadable rows. With more of them, the whole list is given up. */
const mostUnreadable = 100;
/** How often to retry a piece of a page that the service cannot render, and a single row. Rarely, because a bad row stays bad. */
const retriesOfPiece = 1;
const retriesOfRow = 2;

/** A page or a piece of one. The total is unknown if none of its rows could be rendered. */
interface Part extends Omit<PageRead, "total"> {
  readonly rows: readonly Listed[];
  readonly total: number | undefined;
}

/**
 * Reads pages of the full size. When all tries for a page fail, it reads the page in halves, then in quarters, because a slow
 * service may manage smaller pages. A page that the service cannot render is divided down to the failing row, which is left out and
 * named in `unreadable`. After an answer that was too large, pieces hold at most half of the rows, on later pages too.
 */
export function halvingPages(read: ReadSizedPage, options: HalvingOptions): ReadPage {
  const pages = new HalvingPages(read, options);
  return (page) => pages.read(page);
}

class HalvingPages {
  readonly #readSized: ReadSizedPage;
  readonly #name: string;
  readonly #problem: ReportProblem;
  /** Rows that the service puts on a page. */
  #applied: number;
  #total: number | undefined;
  /**
   * The most rows to request at once. Lowered after an answer that was too large, but to no less than a quarter of a page, so
   * that one huge row does not slow down all pages.
   */
  #largest = Number.POSITIVE_INFINITY;
  #unreadable = 0;
  /**
   * The largest limit for which the service returned as many rows as requested, so that pages of that size begin at the
   * expected row.
   */
  #given = 1;
  #isSizeKnown: boolean;
  /** Page 2, if it was read together with page 1. */
  #second: ListPage | undefined;

  constructor(read: ReadSizedPage, { name, problem, size }: HalvingOptions) {
    this.#readSized = read;
    this.#name = name;
    this.#problem = problem;
    this.#applied = size ?? pageSize;
    this.#isSizeKnown = size !== undefined;
  }

  async read(page: number): Promise<PageRead> {
    const second = page === 2 ? this.#second : undefined;
    if (page <= 2) this.#second = undefined;
    const part: Part = second ?? (await this.#readOrDivide(page, pageSize, this.#applied));
    const { total = this.#total, ...got } = part;
    if (total === undefined) throw new SkipError(got.unreadable?.[0] ?? `page ${page} of ${this.#name} cannot be read`);
    if (page === 1 && rowsOn(got) < total) {
      this.#applied = rowsOn(got);
      if (got.piece !== undefined && !this.#isSizeKnown) await this.#learnSize(got.rows);
      this.#isSizeKnown = true;
    }
    return { ...got, total };
  }

  /**
   * Finds the service's page size, if page 1 was read in pieces: the service may put fewer rows on a page than requested. If
   * page 2 overlaps page 1 or cannot be read, all pages are read in pieces of a size that worked.
   */
  async #learnSize(first: readonly Listed[]): Promise<void> {
    if (this.#largest < this.#applied) return; // all pages are read in pieces anyway
    const ids = new Set(first.map(({ id }) => id));
    const second = await this.#readOnce(2, pageSize).catch((error: unknown) => {
      if (!(error instanceof SkipError)) throw error;
    });
    if (second && !second.rows.some(({ id }) => ids.has(id))) this.#second = second;
    else this.#largest = this.#given;
  }

  async #readOnce(page: number, limit: number, retries?: number): Promise<ListPage> {
    const got = await this.#readSized(page, limit, retries);
    this.#total = got.total;
    if (got.rows.length === limit) this.#given = Math.max(this.#given, limit);
    return got;
  }

  /**
   * Reads a page with `rows` rows by asking for `limit`, and in pieces if that fails. `rows` is below `limit` only if the service
   * puts fewer rows on a page than requested.
   */
  async #readOrDivide(page: number, limit: number, rows = limit, retries?: number): Promise<Part> {
    const known = rows > this.#largest ? largestDivisor(rows, this.#largest) : undefined;
    if (known !== undefined) return this.#readPieces(page, rows, known);
    try {
      return await this.#readOnce(page, limit, rows === 1 && retries !== undefined ? retriesOfRow : retries);
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === undefined) throw error;
      if (rows === 1 && trouble === "unrendered") return this.#withoutRow(page, error);
      if (trouble === "unrendered" && (await this.#isRefused())) throw error;
      const piece = await this.#pieceAfter(trouble, page, rows);
      if (piece === undefined) throw error;
      const fewer = trouble === "unrendered" ? retriesOfPiece : retries;
      return await this.#readPieces(page, rows, piece, fewer).catch((second: unknown) => {
        throw troubleOf(second) === undefined ? second : error;
      });
    }
  }

  /** Whether the service refuses every row. Tries two single rows: if both fail, the rows are not the cause. */
  async #isRefused(): Promise<boolean> {
    if (this.#total !== undefined) return false;
    for (const row of [pageSize, 1]) {
      try {
        await this.#readOnce(row, 1, retriesOfPiece);
        return false;
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
      }
    }
    return true;
  }

  /** The size of the pieces to read after this failure; undefined if they cannot be smaller. */
  async #pieceAfter(trouble: Trouble, page: number, rows: number): Promise<number | undefined> {
    if (trouble === "failing") {
      const isAboveQuarter = rows > this.#applied / 4; // if pages as small as that fail, their size is not the cause
      return isAboveQuarter && rows % 2 === 0 ? rows / 2 : undefined;
    }
    this.#total ??= (await this.#readOnce(1, 1).catch(() => undefined))?.total;
    const there = Math.min(rows, (this.#total ?? Number.POSITIVE_INFINITY) - (page - 1) * rows);
    if (trouble === "unrendered") return largestDivisor(rows, Math.max(1, there / 2));
    const piece = largestDivisor(rows, there / 2);
    this.#largest = Math.min(this.#largest, Math.max(piece ?? this.#largest, this.#applied / 4));
    return piece;
  }

  #withoutRow(row: number, error: unknown): Part {
    const why = error instanceof Error ? error.message : String(error);
    this.#unreadable++;
    if (this.#unreadable > mostUnreadable)
      throw new SkipError(`more than ${mostUnreadable} rows of ${this.#name} cannot be read; row ${row}: ${why}`);
    return {
      rows: [],
      unreadable: [`row ${row} of ${this.#name} cannot be read: ${why}`],
      total: undefined,
      docForm: null,
    };
  }

  /** Reads a page as several smaller pages, such as page 3 of 100 rows as pages 5 and 6 of 50. */
  async #readPieces(page: number, rows: number, size: number, retries?: number): Promise<Part> {
    const before = ((page - 1) * rows) / size;
    let whole: Part | undefined;
    for (let number = 1; number <= rows / size; number++) {
      const part = await this.#readOrDivide(before + number, size, size, retries);
      if (whole?.total !== undefined && part.total !== undefined && part.total !== whole.total) {
        this.#problem(
          `total of ${this.#name} went from ${whole.total} to ${part.total} between two halves of page ${page}`,
        );
      }
      whole = whole ? joined(whole, part, size) : part;
      const total = whole.total ?? this.#total;
      const left = total === undefined ? Number.POSITIVE_INFINITY : total - (page - 1) * rows;
      if (rowsOn(whole) >= left) return whole;
      if (rowsOn(part) !== size) throw new SkipError(`a page of ${size} rows has ${rowsOn(part)}`);
    }
    return whole ?? Promise.reject(new RangeError(`${rows} rows in pieces of ${size}`));
  }
}

/** Joins two parts of a page. Uses the newest known total. */
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

/** The largest piece size, at most `most`, that divides a page of `rows` rows evenly; undefined if there is none. */
function largestDivisor(rows: number, most: number): number | undefined {
  for (let piece = Math.floor(Math.min(most, rows / 2)); piece >= 1; piece--) if (rows % piece === 0) return piece;
  return undefined;
}

/**
 * failing: every try timed out or broke off. unrendered: the service failed on a row, with a 500 or with a 400 about its content.
 * too large: the answer exceeded the limit.
 */
type Trouble = "failing" | "unrendered" | "too large";

/**
 * The kinds of failure that smaller pages may fix. They do not help if the service refuses the request or is down, or if the whole
 * document is refused.
 */
function troubleOf(error: unknown): Trouble | undefined {
  if (!(error instanceof SkipError)) return undefined;
  if (!(error instanceof GaveUpError)) return isAboutRow(error) ? "unrendered" : undefined;
  const { throttled, trouble, status } = error.last;
  if (throttled || trouble === "gone" || trouble === "no proxy") return undefined;
  if (trouble === "too large") return trouble;
  return status === 500 ? "unrendered" : "failing";
}

/**
 * Whether a refused request may be about one of the rows. A refusal with status 400 may be, unless it mentions the model of
 * the dataset, which concerns all rows.
 */
function isAboutRow({ status, code, message }: SkipError): boolean {
  return status === 400 && !lacksModel(code, message);
}
