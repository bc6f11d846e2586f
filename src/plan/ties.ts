import type { Listed } from "../client/check-list.js";
import type { DocumentRef } from "../client/knowledge-api.js";

/** How the positions of some rows of a list run. */
export interface Positions {
  readonly rows: number;
  /** Rows whose position an earlier one has. */
  readonly collisions: number;
  /** Places at which positions are left out. */
  readonly gaps: number;
}

/** Positions of rows in the order of the service; rows without a number there are passed over. */
export function positionsOf(rows: readonly Listed[]): Positions {
  const numbers = rows.flatMap(({ position }) => (typeof position === "number" ? [position] : []));
  let [collisions, gaps] = [0, 0];
  const seen = new Set<number>();
  for (const [at, number] of numbers.entries()) {
    const before = numbers[at - 1];
    if (seen.has(number)) collisions++;
    else if (before !== undefined && number > before + 1) gaps++;
    seen.add(number);
  }
  return { rows: numbers.length, collisions, gaps };
}

/** Whether two readings give the same rows in the same order. */
export function isSameOrder(one: readonly Listed[], other: readonly Listed[]): boolean {
  return one.length === other.length && one.every(({ id }, at) => id === other[at]?.id);
}

/** A child list that was read. */
export interface ReadList {
  readonly ref: DocumentRef;
  readonly chunkId: string;
  readonly rows: readonly Listed[];
}

/** Keeps the list in which most positions collide, to be read again. */
export class TieCheck {
  #list: ReadList | undefined;
  #collisions = 0;

  offer(list: ReadList): void {
    const { collisions } = positionsOf(list.rows);
    if (collisions <= this.#collisions) return;
    this.#list = list;
    this.#collisions = collisions;
  }

  get list(): ReadList | undefined {
    return this.#list;
  }

  get collisions(): number {
    return this.#collisions;
  }
}
