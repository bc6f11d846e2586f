import { pageSize } from "../client/knowledge-api.js";

/** How many children the chunks of a document have, as far as that was told: so many chunks with so many children. */
export class ChildCounts {
  readonly #chunksWith = new Map<number, number>();
  /** Chunks of which the number is known. */
  known = 0;
  /** Children of these. */
  sum = 0;

  add(children: number): void {
    this.#chunksWith.set(children, (this.#chunksWith.get(children) ?? 0) + 1);
    this.known++;
    this.sum += children;
  }

  /** Requests that the known lists take, where the service puts so many rows on a page; an empty list takes one, too. */
  requests(size: number): number {
    return this.#sumOf((children) => pagesOf(children, size));
  }

  /** Requests of the known lists that take more than one, which a second sweep reads again. */
  requestsOfLong(size: number): number {
    return this.#sumOf((children) => (isReadTwice(children, size) ? pagesOf(children, size) : 0));
  }

  /** Children in these. */
  rowsOfLong(size: number): number {
    return this.#sumOf((children) => (isReadTwice(children, size) ? children : 0));
  }

  #sumOf(of: (children: number) => number): number {
    let sum = 0;
    for (const [children, chunks] of this.#chunksWith) sum += chunks * of(children);
    return sum;
  }
}

/** A full page does not show that its list ends with it. */
function isReadTwice(children: number, size: number): boolean {
  return children > size || children === pageSize;
}

/** Pages of a list: an empty one has one, too. */
export function pagesOf(rows: number, pageSize: number): number {
  return Math.max(1, Math.ceil(rows / pageSize));
}
