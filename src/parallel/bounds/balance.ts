import { type Board, type Look, leaseTime } from "./board.js";
import type { Slot, Slots } from "./slots.js";

/** Milliseconds after which a place goes round, where there are more processes than places. */
const tenure = 2_000;

interface BalanceOptions {
  readonly concurrency: number;
  readonly slots: Slots;
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
    const { slots, board, concurrency, now } = this.#options;
    const shares = { concurrency, members, held: slots.count, wanted, isLack };
    const surplus = shares.held - slotsToLease(shares);
    const mustRotate = surplus === 0 && goesRound(shares) && now() - this.#tookAt > tenure;
    if (surplus < 0) await this.#take(-surplus);
    await this.#giveUp(mustRotate && (await board.takeLack()) ? 1 : Math.max(0, surplus), isLack);
    await this.#announceLack(isLacking({ ...shares, held: slots.count }));
  }

  /** The request in this place is answered. */
  left(slot: Slot): void {
    if (this.#toGive === 0) return;
    this.#toGive--;
    this.#giveBack([slot]).catch(() => {}); // it runs out
  }

  async #take(most: number): Promise<void> {
    const { slots, mayTake, now } = this.#options;
    const taken = await slots.take(most);
    if (taken.length === 0) return;
    this.#tookAt = now();
    if (await mayTake()) slots.keep(taken);
    else await slots.giveBack(taken);
  }

  async #giveUp(count: number, isWaitedFor: boolean): Promise<void> {
    const idle = this.#options.slots.lastIdle(count);
    this.#toGive = count - idle.length;
    if (idle.length > 0) await this.#giveBack(idle, isWaitedFor);
  }

  async #giveBack(slots: readonly Slot[], isWaitedFor = true): Promise<void> {
    await this.#options.slots.giveBack(slots);
    if (isWaitedFor) await this.#options.board.announceChange();
  }

  /** Others that still lack places say so again. */
  async #announceLack(isLackingNow: boolean): Promise<void> {
    const { board } = this.#options;
    const wasLacking = this.#isLacking;
    this.#isLacking = isLackingNow;
    if (isLackingNow) await board.announceLack();
    else if (wasLacking) await board.takeLack();
    if (isLackingNow !== wasLacking) await board.announceChange();
  }
}

/** Decides how many places a process takes or gives back. Pure. */

/** The places as one process sees them. */
interface Shares {
  /** The places of the service. */
  readonly concurrency: number;
  /** The processes that have use for places, this one included. */
  readonly members: number;
  readonly held: number;
  readonly wanted: number;
  /** Whether a process has fewer than its share, and wants more. */
  readonly isLack: boolean;
}

/** How many places this process may have now: all that it wants, but while somebody lacks some, no more than its share. */
export function slotsToLease(shares: Shares): number {
  return Math.min(shares.wanted, shares.isLack ? shareOf(shares) : shares.concurrency);
}

/** Whether this process has fewer places than belong to it whatever the others want. */
export function isLacking(shares: Shares): boolean {
  return shares.held < Math.min(shares.wanted, shareOf(shares));
}

/** Rounded down, so that there are enough for all; a process that wants more takes the rest once all have enough. */
export function shareOf({ concurrency, members }: Pick<Shares, "concurrency" | "members">): number {
  return Math.max(1, Math.floor(concurrency / Math.max(1, members)));
}

/** Whether there are more processes than places, and another one waits: then the places go round. */
export function goesRound({ concurrency, members, held, isLack }: Shares): boolean {
  return isLack && members > concurrency && held > 0;
}

/** Milliseconds for which a demand counts after it has gone. */
const window = 1_000;

/** How many places a process has use for: the most in the last one to two seconds, so that short breaks cost none. Pure. */
export class Demand {
  readonly #most: number;
  #windowStart = 0;
  #highest = 0;
  #highestBefore = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;

  /** `most`: the places of the service. */
  constructor(most: number) {
    this.#most = most;
  }

  /** So many requests are in flight or wait. */
  note(requests: number, now: number): void {
    this.#roll(now);
    this.#highest = Math.max(this.#highest, requests);
  }

  /** The rate holds a request back: every place brings more of it. */
  slowed(now: number): void {
    this.#slowedAt = now;
  }

  at(now: number): number {
    this.#roll(now);
    const highest = Math.max(this.#highest, this.#highestBefore);
    const isSlowed = now - this.#slowedAt < 2 * window;
    return highest > 0 && isSlowed ? this.#most : Math.min(this.#most, highest);
  }

  #roll(now: number): void {
    if (now - this.#windowStart < window) return;
    this.#highestBefore = now - this.#windowStart < 2 * window ? this.#highest : 0;
    this.#highest = 0;
    this.#windowStart = now;
  }
}

/**
 * Milliseconds without an answer of the broker after which a process goes on alone. The last leases of all others that lost it at the same time have run out
 * by then, and so have the requests that were sent under them, unless they take long.
 */
const patience = leaseTime + 2_000;
/** Failed requests to the broker that make sure of it: a process that was frozen finds one of them too late. */
const enough = 3;
/** A quarantine is over in one lease; where the broker loses its memory again and again, no wait is longer than this. */
const longestQuarantine = 3 * leaseTime;
/** The last milliseconds of a quarantine, in which no request is sent alone: others take places right after it. */
const lastPart = 3_000;
/** Where such a request is still under way in the very last ones, the quarantine starts again. More than the time between two looks. */
const tooLate = 1_500;

/**
 * How a process stands with the others. Usually it has one request in each of its places. It goes alone, with one request in flight that the broker
 * knows nothing of, where it cannot know what the others do, or where no place is allowed for long. Pure: times are milliseconds.
 */
export class Standing {
  #answeredAt: number;
  #misses = 0;
  #quarantinedSince: number | undefined;
  #aloneUntil = Number.NEGATIVE_INFINITY;
  #wasGone = false;

  constructor(now: number) {
    this.#answeredAt = now;
  }

  /** Whether a request may be sent alone. */
  isAlone(now: number): boolean {
    return now < this.#aloneUntil;
  }

  /** Whether the broker has not answered for so long that no place can be held. */
  get isGone(): boolean {
    return this.#aloneUntil === Number.POSITIVE_INFINITY;
  }

  /**
   * Whether a quarantine has to start, or start again, before any place is taken: for a request of this process that was sent alone and
   * is still under way, or for those that others may have sent while the broker was gone. `left`: of the quarantine there is.
   */
  isQuarantineDue(left: number, isUnderWay: boolean): boolean {
    return (isUnderWay && left < tooLate) || (this.#wasGone && left === 0);
  }

  /** The process begins to want places again: that it did not ask the broker before means nothing. */
  wake(now: number): void {
    this.#answeredAt = now;
    this.#misses = 0;
    this.#quarantinedSince = undefined;
    this.#aloneUntil = Number.NEGATIVE_INFINITY;
  }

  /**
   * The broker answered what it was asked at `now`. `left`: of a quarantine; it is over then unless the broker forgets it, which begins another one. Who began
   * it again for a request of its own waits for its end, or it would never end.
   */
  answered(now: number, left: number, isOwn = false): void {
    this.#answeredAt = now;
    this.#misses = 0;
    this.#wasGone &&= left === 0;
    this.#quarantinedSince = left === 0 ? undefined : isOwn ? now : (this.#quarantinedSince ?? now);
    const isLong = now - (this.#quarantinedSince ?? now) >= longestQuarantine;
    this.#aloneUntil = isLong ? now + left - lastPart : Number.NEGATIVE_INFINITY;
  }

  /** The broker did not answer. */
  missed(now: number): void {
    this.#misses++;
    if (this.#misses < enough || now - this.#answeredAt < patience) return;
    this.#aloneUntil = Number.POSITIVE_INFINITY;
    this.#wasGone = true;
  }
}
