import { leaseTime } from "./lease.js";

/**
 * Milliseconds without an answer of the broker after which a process goes on alone. The last leases of all others that lost it at the same time have run out
 * by then, and so have the requests that were sent under them, unless they take long.
 */
const patience = leaseTime + 2_000;
/** Requests to the broker in vain that make sure of it: a process that was frozen finds one of them too late. */
const enough = 3;
/** A quarantine is over in one lease; where the broker loses its memory again and again, nobody waits for longer than this. */
const longestQuarantine = 3 * leaseTime;
/** The last milliseconds of a quarantine, in which no request is sent alone: others take places right after it. */
const lastPart = 3_000;
/** Where such a request is still under way in the very last ones, the quarantine begins anew. More than the time between two looks. */
const tooLate = 1_500;

/**
 * How a process stands with the others. Usually it has one request in each of its places. It goes alone, with one request in flight that the broker
 * knows nothing of, where it cannot know what the others do, or where nobody is allowed a place for long. Pure: times are milliseconds.
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

  /** Whether the broker has not answered for so long that nobody can hold a place. */
  get isGone(): boolean {
    return this.#aloneUntil === Number.POSITIVE_INFINITY;
  }

  /**
   * Whether a quarantine has to begin, or to begin anew, before anybody takes a place: for a request of this process that was sent alone and
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
   * it anew for a request of its own waits for its end, or it would never end.
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
