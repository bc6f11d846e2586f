import type { Listed } from "../client/check-list.js";
import { SkipError } from "../errors.js";

/** Rows that have the position of an earlier one; those without a number are passed over. */
export function collisionsIn(rows: readonly Listed[]): number {
  const positions = rows.map(({ position }) => position).filter((position) => typeof position === "number");
  return positions.length - new Set(positions).size;
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
  rows = 0;
  collisions = 0;
  /** Whether rows with one position come in the same order when read twice; undefined where that is not known. */
  holds: boolean | undefined;
  #worst: SeenRows | undefined;
  #most = 0;

  offer(seen: SeenRows): void {
    const collisions = collisionsIn(seen.rows);
    this.rows += seen.rows.length;
    this.collisions += collisions;
    if (collisions <= this.#most) return;
    this.#worst = seen;
    this.#most = collisions;
  }

  /** Asks again for the rows in which most positions collide; they may be gone by now. */
  async askAgain(): Promise<void> {
    if (!this.#worst) return;
    const { rows, ask, isAnswer } = this.#worst;
    try {
      this.holds = isSameOrder(isAnswer ? rows : await ask(), await ask());
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
    }
  }
}

/** Whether two readings give the same rows in the same order. */
export function isSameOrder(one: readonly Listed[], other: readonly Listed[]): boolean {
  return one.length === other.length && one.every(({ id }, at) => id === other[at]?.id);
}
