import { type Outcome, Refusals } from "./refusals.js";
import { longestRetryAfter } from "./retry.js";

/** The pace of a whole run: when the next request may be sent, and how many may be in flight. Pure: time is an argument. */

/** A pause where the service refuses and does not say for how long: 1 s, doubled with every refusal in a row. */
const firstPause = 1_000;
const longestPause = 60_000;
/** A limit that only a trial has shown may be none: the first pause is no longer than it takes to send so many requests. */
const pausedRequests = 20;
/** Refusals in a row, with a pause between them, that make a limit sure. */
const sureRefusals = 3;

/** Growth of the rate in a second: while its limit is sought; and before that, for some seconds, where it was just met. */
const seeking = 0.06;
const cruising = 0.003;
const cruise = 20;
/** The factor for a rate that was a little too fast, and for one that was refused within seconds. */
const easing = 0.93;
const yielding = 0.8;
const atOnce = 2_500;
/** Answers from which a rate can be told. */
const enough = 5;
/** A pause of so many milliseconds is short. */
const shortPause = 2_500;
/** How long the first request after a pause is waited for, and how often it is looked after, in milliseconds. */
const longestProbe = 5_000;
const probePoll = 20;
/** Milliseconds that a timer may be late without a place being lost. */
const lateness = 5;
/** How often a rate that others decide is looked at, in milliseconds: it may have grown. */
const followPoll = 50;

/** limit: everybody pauses from now on. known: everybody does already. chance: it says nothing of the rate. */
export type Cause = "limit" | "known" | "chance";

/**
 * A smooth rate that finds the limit of the service. Unbounded, or at `maxRps`, until a refusal shows a limit. Everybody
 * pauses for as long as the service says; then the rate is what was let through before, the pause included, and grows slowly.
 */
export class Pace {
  readonly #maxRate: () => number;
  /** Whether the maximum may change. */
  readonly #isFollowing: boolean;
  #rate: number;
  #rateSince = 0;
  /** Seconds of cruising after `rateSince`. */
  #cruise = 0;
  /** When the last place was, had no timer been late. */
  #last = Number.NEGATIVE_INFINITY;
  #pauseStart = 0;
  /** After a pause one request goes ahead; until it is answered, or this moment, the others wait. */
  #probeUntil = 0;
  #pausedUntil = 0;
  #refusals = 0;
  #letThrough = 0;
  #stretchStart: number | undefined;
  #tooFew: { readonly count: number; readonly start: number } | undefined;
  #isLimited = false;
  /** Whether the limit has refused more than one request now and then. */
  #isSure = false;
  readonly #causes = new Refusals();

  /** `maxRps`: requests a second at the most; a function where that changes, which may be 0 for a while. */
  constructor(maxRps: number | (() => number) = Number.POSITIVE_INFINITY) {
    this.#isFollowing = typeof maxRps === "function";
    this.#maxRate = typeof maxRps === "function" ? maxRps : () => maxRps;
    this.#rate = typeof maxRps === "function" ? Number.POSITIVE_INFINITY : maxRps;
  }

  /** Requests a second that are sent at the most. */
  rateAt(now: number): number {
    const seconds = (now - this.#rateSince) / 1000;
    const slowly = Math.min(seconds, this.#cruise);
    return Math.min(this.#maxRate(), this.#rate * (1 + cruising) ** slowly * (1 + seeking) ** (seconds - slowly));
  }

  /** Whether the maximum alone holds requests back: no pause, no limit that was met. */
  isAtMost(now: number): boolean {
    const most = this.#maxRate();
    return now >= this.#pausedUntil && this.rateAt(now) >= most && this.#causes.cap >= most;
  }

  /** Milliseconds for which everybody still pauses. */
  pauseLeft(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** 0: go, and the place is taken. Otherwise the milliseconds after which to ask again. */
  take(now: number): number {
    const rate = Math.min(this.rateAt(now), this.#causes.cap);
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

  /** An answer that was no refusal, to a request sent at `sentAt`. */
  accepted(sentAt: number, now: number): void {
    this.#letThrough++;
    const { count, start } = this.#stretch(now);
    const rate = (1000 * count) / Math.max(1, now - start);
    this.#goOn(this.#causes.accepted(sentAt, now, this.#isLimited, rate), now);
    if (this.#refusals === 0 || sentAt < this.#pausedUntil) return;
    this.#refusals = 0;
    this.#probeUntil = 0;
    this.#tooFew = count < enough ? { count, start } : undefined;
    if (count >= enough) this.#adjust(now, count, start);
    this.#letThrough = 0;
    this.#stretchStart = now;
  }

  /** A refusal; `retryAfter`: the milliseconds that the service asks to wait, if it does. */
  refused(sentAt: number, now: number, retryAfter: number | undefined): Cause {
    const asked = retryAfter === undefined ? undefined : Math.min(longestRetryAfter, retryAfter);
    if (sentAt < this.#pausedUntil) {
      if (asked !== undefined) this.#pausedUntil = Math.max(this.#pausedUntil, now + asked);
      return "known";
    }
    if (asked === undefined && this.#refusals === 0) {
      const cause = this.#causes.refused(sentAt, now, this.#isLimited ? this.rateAt(now) : undefined);
      if (typeof cause === "object") this.#goOn(cause, now);
      if (cause !== "limit") return "chance";
    }
    if (this.#refusals === 0) {
      this.#pauseStart = now;
      this.#isSure ||= asked !== undefined || !this.#isLimited;
    }
    this.#isSure ||= this.#refusals + 1 >= sureRefusals;
    const shortest = this.#isSure ? firstPause : Math.min(firstPause, (1000 * pausedRequests) / this.rateAt(now));
    const pause = asked ?? Math.min(longestPause, shortest * 2 ** this.#refusals);
    this.#refusals++;
    this.#probeUntil = 0;
    this.#pausedUntil = now + pause;
    this.#isLimited = true;
    return "limit";
  }

  #goOn(outcome: Outcome | undefined, now: number): void {
    if (!outcome) return;
    this.#rate = Math.min(this.#maxRate(), outcome.rate);
    this.#cruise = 0;
    this.#rateSince = now;
    this.#isLimited ||= outcome.isLimit;
    this.#letThrough = 0;
    this.#stretchStart = now;
  }

  /** Requests let through, and since when; earlier stretches with too few requests to tell a rate are added if needed. */
  #stretch(now: number): { readonly count: number; readonly start: number } {
    const start = this.#stretchStart ?? now;
    const before = this.#letThrough < enough ? this.#tooFew : undefined;
    return { count: this.#letThrough + (before?.count ?? 0), start: before?.start ?? start };
  }

  /**
   * The first answer after a pause; one of nothing says nothing. Where the pause is short against the time before it, the
   * rate was just a little too fast. Where it is long, what was let through counts, the pause included.
   */
  #adjust(now: number, count: number, start: number): void {
    if (this.#pausedUntil === this.#pauseStart) return;
    const elapsed = Math.max(1, now - start);
    const pause = now - this.#pauseStart;
    const pace = this.rateAt(this.#pauseStart);
    const nearly = Number.isFinite(pace) && pause < Math.max(shortPause, elapsed / 3);
    const overshot = elapsed < atOnce;
    this.#rate = nearly ? pace * (overshot ? yielding : easing) : Math.min(pace, (count * 1000) / elapsed);
    this.#cruise = nearly && !overshot ? cruise : 0;
    this.#rateSince = now;
  }
}
