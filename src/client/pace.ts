import { longestRetryAfter } from "./retry.js";

/** Decides when a run may send its next request. Pure; time is an argument. */

/**
 * At this level, kbdump assumes a rate limit. The level rises by one with every refusal without Retry-After, and falls by one
 * with every other answer. Services that refuse at random, with probability p, reach it with a probability of about (p / (1 -
 * p)) ** 7: 2e-7 for p = 0.1.
 */
const limitLevel = 7;
/** After this many refusals in a row, a limit that was found earlier counts as reached again. */
const knownLimit = 4;
/**
 * The first pause at a limit, in milliseconds, if the service does not say how long to wait. The pause is shorter if the refusals
 * may be random, because there were other answers between them, or fewer than `fewAnswers` before: then it is at most the time that
 * 100 requests take. Every further refusal doubles it. If a limit was found before, the first two pauses are as long as the last one
 * that was long enough.
 */
const firstPause = 1_000;
const fewAnswers = 20;
const pausedRequests = 100;
const longestPause = 60_000;
/**
 * A rate slightly above a limit causes a few refusals, which look random. So once there are this many more refusals than
 * `usualShare` explains, the rate drops to `lowered` times the throughput. If there are as many again at the lower rate, they are
 * random: the rate becomes unrestricted again, and the next reduction needs twice as many refusals.
 */
const firstExcess = 8;
const usualShare = { free: 0.15, lowered: 0.03 };
const lowered = 0.8;

/**
 * How fast the rate grows after it was lowered, per second: by `cruising` in the first `cruise` seconds, then by `seeking` to
 * find the limit.
 */
const seeking = 0.06;
const cruising = 0.003;
const cruise = 20;
/**
 * Factors by which a refusal lowers the rate. `scattered`: without a pause, when a single refusal shows that the rate is
 * slightly above a known limit. `easing`: after a short pause. `yielding`: after a pause that ended within `atOnce`
 * milliseconds of the one before, so the rate was much too high.
 */
const scattered = 0.86;
const easing = 0.93;
const yielding = 0.8;
const atOnce = 2_500;
/** The rate is computed from at least this many answers. */
const enough = 5;
/** A pause up to this many milliseconds counts as short. */
const shortPause = 2_500;
/** Milliseconds to wait for the answer to the first request after a pause, and between checks whether it has arrived. */
const longestProbe = 5_000;
const probePoll = 20;
/** If a timer is late by up to this many milliseconds, the next request is due that much earlier, so the rate stays the same. */
const lateness = 5;
/** Milliseconds between checks of `maxRps` if it is a function. */
const followPoll = 50;

/**
 * Finds the rate that the service allows. The rate is unlimited, or `maxRps`, until refusals show a limit. Then all requests
 * pause as long as the service says, and continue at the previous throughput, counting the pause. From there the rate grows
 * slowly, and every refusal lowers it a little. To tell random refusals from a limit, it checks whether a lower rate helps.
 */
export class Pace {
  readonly #maxRate: () => number;
  /** Whether `maxRps` is a function, so the maximum may change. */
  readonly #isFollowing: boolean;
  /** The rate learned from answers and refusals. It ignores the configured maximum, which may be 0 for a moment. */
  #rate = Number.POSITIVE_INFINITY;
  #rateSince = 0;
  /** Seconds after `rateSince` in which the rate grows slowly. */
  #cruise = 0;
  /**
   * Requests per second: refusals that look random do not lower the rate below this, which is `lowered` times the throughput at the
   * limit. Undefined if the rate is unrestricted.
   */
  #floor: number | undefined;
  /** Refusals minus other answers, at least 0: see `limitLevel`. */
  #level = 0;
  /** The number of refusals in a row, without another answer between them. */
  #inARow = 0;
  /** Refusals above the usual share, counted while the rate is unrestricted or at its floor: see `firstExcess`. */
  #excess = 0;
  #mostExcess = firstExcess;
  /** When the last request was due. It was sent later if a timer was late. */
  #last = Number.NEGATIVE_INFINITY;
  #pauseStart = 0;
  #pausedUntil = 0;
  /** The first pause of a series, in milliseconds. `isAsked`: whether the service set its length. */
  #firstPause = firstPause;
  #isAsked = false;
  /** The last pause that this class chose, and the last one that was long enough, in milliseconds; 0 before the first limit. */
  #lastPause = 0;
  #enoughPause = 0;
  /** After a pause, one request goes first. The others wait for its answer, or until this time. */
  #probeUntil = 0;
  #refusals = 0;
  #letThrough = 0;
  #stretchStart: number | undefined;

  /** `maxRps`: the maximum requests per second, or a function if it changes. It may return 0 for a while. */
  constructor(maxRps: number | (() => number) = Number.POSITIVE_INFINITY) {
    this.#isFollowing = typeof maxRps === "function";
    this.#maxRate = typeof maxRps === "function" ? maxRps : () => maxRps;
  }

  /** The maximum requests per second at this time. */
  rateAt(now: number): number {
    return Math.min(this.#maxRate(), this.#foundRateAt(now));
  }

  /** Milliseconds until the pause ends. */
  pauseLeft(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** Returns 0 to send now, and counts the request. Otherwise returns the milliseconds to wait before asking again. */
  take(now: number): number {
    const rate = this.rateAt(now);
    if (rate === 0) return followPoll;
    const interval = 1000 / rate;
    const due = Math.max(this.#last + interval, this.#pausedUntil);
    if (due > now) return this.#isFollowing ? Math.min(followPoll, due - now) : due - now;
    if (this.#refusals > 0) {
      if (now < this.#probeUntil) return probePoll;
      this.#probeUntil = now + longestProbe;
    }
    this.#last = Math.max(this.#last + interval, now - lateness);
    this.#stretchStart ??= now;
    return 0;
  }

  /** Reports that a request, sent at `sentAt`, got an answer that is not a refusal. */
  accepted(sentAt: number, now: number): void {
    this.#letThrough++;
    this.#level = Math.max(0, this.#level - 1);
    this.#inARow = 0;
    if (this.#floor === undefined || this.#isAtFloor(now)) this.#excess = Math.max(0, this.#excess - this.#usualShare);
    if (this.#refusals === 0 || sentAt < this.#pausedUntil) return;
    this.#refusals = 0;
    this.#probeUntil = 0;
    this.#enoughPause = this.#lastPause;
    if (this.#letThrough < enough) return; // too few: keep counting
    this.#adjust(now);
    this.#letThrough = 0;
    this.#stretchStart = now;
  }

  /**
   * Reports a refusal and returns its cause. limit: all requests pause now. known: they already pause. chance: only this request is
   * repeated. `retryAfter`: the milliseconds that the service asks to wait, if given.
   */
  refused(sentAt: number, now: number, retryAfter: number | undefined): "limit" | "known" | "chance" {
    const asked = retryAfter === undefined ? undefined : Math.min(longestRetryAfter, retryAfter);
    if (sentAt < this.#pausedUntil) {
      if (asked !== undefined) this.#pausedUntil = Math.max(this.#pausedUntil, now + asked);
      return "known";
    }
    if (asked === undefined && this.#refusals === 0 && !this.#showsLimit(sentAt, now)) return "chance";
    if (this.#refusals === 0) this.#beginPauses(asked !== undefined, now);
    const known = this.#enoughPause > this.#firstPause ? this.#enoughPause : undefined;
    const doublings = known === undefined ? this.#refusals : Math.max(0, this.#refusals - 1);
    const pause = asked ?? Math.min(longestPause, (known ?? this.#firstPause) * 2 ** doublings);
    if (asked === undefined) this.#lastPause = pause;
    this.#refusals++;
    this.#probeUntil = 0;
    this.#pausedUntil = now + pause;
    return "limit";
  }

  #foundRateAt(now: number): number {
    const seconds = (now - this.#rateSince) / 1000;
    const slowly = Math.min(seconds, this.#cruise);
    return this.#rate * (1 + cruising) ** slowly * (1 + seeking) ** (seconds - slowly);
  }

  /** Counts a refusal without Retry-After, and returns whether it shows a limit. If not, it may still lower or restore the rate. */
  #showsLimit(sentAt: number, now: number): boolean {
    this.#level++;
    this.#inARow++;
    const isKnown = this.#enoughPause > firstPause && this.#inARow >= knownLimit;
    if (this.#level >= limitLevel || isKnown) {
      this.#level = 0;
      return true;
    }
    if (sentAt < this.#rateSince) return false; // sent at an earlier rate
    if (this.#floor !== undefined && !this.#isAtFloor(now)) {
      this.#lower(this.#floor, this.#foundRateAt(now) * scattered, now);
      return false;
    }
    this.#excess += 1 - this.#usualShare;
    if (this.#excess < this.#mostExcess) return false;
    if (this.#floor === undefined) {
      const throughput = (1000 * this.#letThrough) / this.#elapsed(now);
      this.#lower(lowered * throughput, 0, now);
    } else {
      this.#mostExcess *= 2;
      this.#setRate(Number.POSITIVE_INFINITY, undefined, 0, now);
      this.#lastPause = this.#enoughPause = 0;
    }
    return false;
  }

  get #usualShare(): number {
    return this.#floor === undefined ? usualShare.free : usualShare.lowered;
  }

  /** Whether the next refusal would lower the rate to its floor. */
  #isAtFloor(now: number): boolean {
    return this.#floor !== undefined && this.#foundRateAt(now) <= this.#floor / easing;
  }

  /** Lowers the rate, but not below the floor. From the floor it grows fast at once, because refusals there may be random. */
  #lower(floor: number, rate: number, now: number): void {
    this.#setRate(Math.max(floor, rate), floor, rate > floor / easing ? cruise : 0, now);
  }

  #setRate(rate: number, floor: number | undefined, cruise: number, now: number): void {
    this.#rate = rate;
    this.#floor = floor;
    this.#cruise = cruise;
    this.#rateSince = now;
    this.#excess = 0;
  }

  #beginPauses(isAsked: boolean, now: number): void {
    const count = this.#letThrough;
    const took = (pausedRequests * this.#elapsed(now)) / Math.max(1, count);
    this.#pauseStart = now;
    this.#isAsked = isAsked;
    const isSure = this.#inARow >= limitLevel && count >= fewAnswers;
    this.#firstPause = isSure || count < enough ? firstPause : Math.min(firstPause, took);
  }

  /** Milliseconds since the count of accepted requests began; at least 1. */
  #elapsed(now: number): number {
    return Math.max(1, now - (this.#stretchStart ?? now));
  }

  /**
   * Sets the rate after a pause. If the service asked for the pause, the pause was short compared with the time before, and
   * the rate was below `maxRps`, it was only slightly too high, and is lowered a little. Otherwise the new rate is the number
   * of requests that got through divided by the time, including the pause.
   */
  #adjust(now: number): void {
    if (this.#pausedUntil === this.#pauseStart) return;
    const elapsed = this.#elapsed(now);
    const pause = now - this.#pauseStart;
    const pace = this.#foundRateAt(this.#pauseStart);
    const nearly = this.#isAsked && pace < this.#maxRate() && pause < Math.max(shortPause, elapsed / 3);
    const overshot = elapsed < atOnce;
    const rate = nearly ? pace * (overshot ? yielding : easing) : Math.min(pace, (this.#letThrough * 1000) / elapsed);
    this.#setRate(rate, lowered * rate, nearly && !overshot ? cruise : 0, now);
  }
}
