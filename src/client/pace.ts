import { longestRetryAfter } from "./retry.js";

/** Decides when a run may send its next request. Pure; time is an argument. */

/**
 * Refusals without Retry-After may be random, independent of the rate. A level rises by one with every refusal and falls by one
 * with every other answer; at this level, kbdump assumes a limit. Random refusals with probability p reach it with a probability of
 * about (p / (1 - p)) ** 7: 2e-7 for p = 0.1.
 */
const limitLevel = 7;
/**
 * The first pause at a limit without Retry-After: 1 s. If other answers came between the refusals, or few came before them, they
 * may still be random. Then the pause is at most as long as the last 100 requests took. The pause doubles with every further
 * refusal. At a known limit, the first two pauses repeat the last pause that was long enough.
 */
const firstPause = 1_000;
const fewAnswers = 20;
const pausedRequests = 100;
const longestPause = 60_000;
/**
 * Slightly above a limit, some requests are refused as if at random. So when this many more than the usual share are refused, the
 * rate drops to a fraction of the throughput. If as many are refused at the lower rate, the refusals are random: the rate is
 * unrestricted again, and the next reduction needs twice as many.
 */
const firstExcess = 8;
const usualShare = { free: 0.15, lowered: 0.03 };
const lowered = 0.8;

/** Growth of the rate per second: while looking for the limit, and in the first seconds (`cruise`) after hitting it. */
const seeking = 0.06;
const cruising = 0.003;
const cruise = 20;
/** Factors to lower a refused rate: slightly above a known limit without a pause, after a short pause, and within seconds after a pause. */
const scattered = 0.86;
const easing = 0.93;
const yielding = 0.8;
const atOnce = 2_500;
/** The fewest answers needed to compute a rate. */
const enough = 5;
/** A pause up to this many milliseconds counts as short. */
const shortPause = 2_500;
/** Milliseconds to wait for the first request after a pause, and between checks for its answer. */
const longestProbe = 5_000;
const probePoll = 20;
/** Milliseconds that a timer may be late without lowering the rate. */
const lateness = 5;
/** Milliseconds between checks of a rate that is set elsewhere. */
const followPoll = 50;

/**
 * A smooth rate that finds the service's limit. It is unlimited, or `maxRps`, until refusals show a limit. Then all requests pause
 * as long as the service says, and continue at the previous throughput, counting the pause. From there the rate grows slowly, and
 * every refusal lowers it a little. To tell random refusals from a limit, it checks whether a lower rate helps.
 */
export class Pace {
  readonly #maxRate: () => number;
  /** Whether the maximum may change. */
  readonly #isFollowing: boolean;
  /** The rate learned from answers and refusals. Excludes the maximum, which may be 0 for a moment. */
  #rate = Number.POSITIVE_INFINITY;
  #rateSince = 0;
  /** Seconds of cruising after `rateSince`. */
  #cruise = 0;
  /** The lowest rate that random refusals can cause: a fraction of the throughput at the limit. Undefined if unrestricted. */
  #floor: number | undefined;
  /** Refusals minus other answers; at least 0. */
  #level = 0;
  /** Consecutive refusals. */
  #inARow = 0;
  /** Refusals beyond the usual share: while the rate is unrestricted, and at its floor. */
  #excess = 0;
  #mostExcess = firstExcess;
  /** When the last request was due if no timer had been late. */
  #last = Number.NEGATIVE_INFINITY;
  #pauseStart = 0;
  #pausedUntil = 0;
  /** The first pause of a series, and whether the service set its length. */
  #firstPause = firstPause;
  #isAsked = false;
  /** The last pause that we chose, and the last pause that was long enough; 0 before the first limit. */
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

  /** Counts a refusal without Retry-After. Even if it shows no limit, it may lower or restore the rate. */
  #showsLimit(sentAt: number, now: number): boolean {
    this.#level++;
    this.#inARow++;
    if (this.#level >= limitLevel) {
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

  /** Lowers the rate. At the floor, the rate grows again at once, because refusals there may be random. */
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
   * Sets the rate after a pause. If the service set the pause, and it was short compared with the time before, a rate below the maximum was
   * only slightly too fast. Otherwise the new rate is the number of requests that got through divided by the time, including the pause.
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
