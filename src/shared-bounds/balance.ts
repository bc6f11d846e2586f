import type { Board, Look } from "./board.js";
import type { Place, Places } from "./places.js";
import { goesRound, isLacking, placesToHold } from "./share-out.js";

/** Milliseconds after which a place goes round, where there are more processes than places. */
const tenure = 2_000;

export interface BalanceOptions {
  readonly concurrency: number;
  readonly places: Places;
  readonly board: Board;
  /** Looks again whether places may be taken: the broker may have forgotten all of them right before. */
  readonly mayTake: () => Promise<boolean>;
  /** Milliseconds on a clock that only goes forward. */
  readonly now: () => number;
}

/** Takes places and gives them back, so that each process has its share, and none is left that somebody wants. */
export class Balance {
  readonly #options: BalanceOptions;
  #isLacking = false;
  /** The places that it gives back as soon as their requests are answered. */
  #toGive = 0;
  #tookAt = 0;

  constructor(options: BalanceOptions) {
    this.#options = options;
  }

  /** Rejects where the broker does not answer. */
  async adjust({ isLack, members }: Look, wanted: number): Promise<void> {
    const { places, board, concurrency, now } = this.#options;
    const shares = { concurrency, members, held: places.count, wanted, isLack };
    const surplus = shares.held - placesToHold(shares);
    const isTurn = surplus === 0 && goesRound(shares) && now() - this.#tookAt > tenure;
    if (surplus < 0) await this.#take(-surplus);
    await this.#giveUp(isTurn && (await board.takeLack()) ? 1 : Math.max(0, surplus), isLack);
    await this.#tellLack(isLacking({ ...shares, held: places.count }));
  }

  /** The request in this place is answered. */
  left(place: Place): void {
    if (this.#toGive === 0) return;
    this.#toGive--;
    this.#giveBack([place]).catch(() => {}); // it runs out
  }

  async #take(most: number): Promise<void> {
    const { places, mayTake, now } = this.#options;
    const taken = await places.take(most);
    if (taken.length === 0) return;
    this.#tookAt = now();
    if (await mayTake()) places.keep(taken);
    else await places.giveBack(taken);
  }

  async #giveUp(count: number, isWaitedFor: boolean): Promise<void> {
    const idle = this.#options.places.lastIdle(count);
    this.#toGive = count - idle.length;
    if (idle.length > 0) await this.#giveBack(idle, isWaitedFor);
  }

  async #giveBack(places: readonly Place[], isWaitedFor = true): Promise<void> {
    await this.#options.places.giveBack(places);
    if (isWaitedFor) await this.#options.board.tellChange();
  }

  /** Others that still lack places say so again. */
  async #tellLack(isLackingNow: boolean): Promise<void> {
    const { board } = this.#options;
    const wasLacking = this.#isLacking;
    this.#isLacking = isLackingNow;
    if (isLackingNow) await board.tellLack();
    else if (wasLacking) await board.takeLack();
    if (isLackingNow !== wasLacking) await board.tellChange();
  }
}
