import type { Listed } from "../client/check-list.js";
import { SkipError } from "../errors.js";

/** How the positions of some rows of a list run. */
export interface Positions {
  readonly rows: number;
  /** Rows whose position an earlier one has. */
  readonly collisions: number;
  /** Places at which positions are left out. */
  readonly gaps: number;
}

/** Counts how the positions of a list run, page by page in the order of the service; passes over rows without a number. */
export class PositionCount implements Positions {
  rows = 0;
  collisions = 0;
  gaps = 0;
  readonly #seen = new Set<number>();
  #last: number | undefined;

  add(rows: readonly Listed[]): this {
    for (const { position } of rows) if (typeof position === "number") this.#add(position);
    return this;
  }

  #add(position: number): void {
    this.rows++;
    if (this.#seen.has(position)) this.collisions++;
    else if (this.#last !== undefined && position > this.#last + 1) this.gaps++;
    this.#seen.add(position);
    this.#last = position;
  }
}

/** Positions of the rows of one answer. */
export function positionsOf(rows: readonly Listed[]): Positions {
  const { rows: count, collisions, gaps } = new PositionCount().add(rows);
  return { rows: count, collisions, gaps };
}

/** Adds up what was looked at of several lists. */
export function sumOfPositions(all: readonly Positions[]): Positions {
  const sum = (of: (each: Positions) => number) => all.reduce((total, each) => total + of(each), 0);
  return { rows: sum((each) => each.rows), collisions: sum((each) => each.collisions), gaps: sum((each) => each.gaps) };
}

/** Whether two readings give the same rows in the same order. */
export function isSameOrder(one: readonly Listed[], other: readonly Listed[]): boolean {
  return one.length === other.length && one.every(({ id }, at) => id === other[at]?.id);
}

/** Rows of one list that were seen, and how to ask for them. */
export interface SeenRows {
  readonly rows: readonly Listed[];
  readonly ask: () => Promise<readonly Listed[]>;
  /** Whether the rows are an answer to `ask`; false for those that were seen elsewhere, perhaps in another order. */
  readonly isAnswer: boolean;
}

/** Counts rows and collisions, and keeps the rows in which most positions collide, to ask for them again. */
export class TieCheck {
  #worst: SeenRows | undefined;
  #most = 0;
  /** Rows that were looked at; each is offered once. */
  rows = 0;
  collisions = 0;

  offer(seen: SeenRows): void {
    const { rows, collisions } = positionsOf(seen.rows);
    this.rows += rows;
    this.collisions += collisions;
    if (collisions <= this.#most) return;
    this.#worst = seen;
    this.#most = collisions;
  }

  /** Whether rows with one position come in the same order when asked twice; undefined where none are known, or they are gone. */
  async doesOrderHold(): Promise<boolean | undefined> {
    if (!this.#worst) return undefined;
    const { rows, ask, isAnswer } = this.#worst;
    try {
      return isSameOrder(isAnswer ? rows : await ask(), await ask());
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      return undefined;
    }
  }
}
