import { RefusalShare } from "./refusal-share.js";
import { longestRetryAfter } from "./retry.js";

/** The pace of a whole run: when the next request may be sent, and how many may be in flight. Pure: time is an argument. */

/** A pause where the service refuses and does not say for how long: 1 s, doubled with every refusal in a row. */
const firstPause = 1_000;
const longestPause = 60_000;

/** Growth of the rate in a second: while its limit is sought; and before that, for some seconds, where it was just met. */
const seeking = 0.06;
const cruising = 0.003;
const cruise = 20;
/** What is left of a rate that was a little too fast, and of one that was refused within seconds. */
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

/**
 * A smooth rate that finds the limit of the service. Unbounded, or at `maxRps`, until the first refusal. Everybody pauses
 * for as long as the service says; then the rate is what was let through before, the pause included, and grows slowly.
 * Refusals that a lower rate does not make fewer change nothing.
 */
export class Pace {
  readonly #maxRate: number;
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
  readonly #share = new RefusalShare();
  #tooFew: { readonly count: number; readonly start: number } | undefined;

  /** `maxRps`: requests a second at the most. */
  constructor(maxRps = Number.POSITIVE_INFINITY) {
    this.#maxRate = maxRps;
    this.#rate = maxRps;
  }

  /** Requests a second that are sent at the most. */
  rateAt(now: number): number {
    const seconds = (now - this.#rateSince) / 1000;
    const slowly = Math.min(seconds, this.#cruise);
    return Math.min(this.#maxRate, this.#rate * (1 + cruising) ** slowly * (1 + seeking) ** (seconds - slowly));
  }

  /** 0: go, and the place is taken. Otherwise the milliseconds after which to ask again. */
  take(now: number): number {
    const interval = 1000 / Math.min(this.rateAt(now), this.#share.cap);
    const due = Math.max(this.#last + interval, this.#pausedUntil);
    if (due > now) return due - now;
    if (this.#refusals > 0) {
      if (now < this.#probeUntil) return probePoll;
      this.#probeUntil = now + longestProbe;
    }
    this.#last = Math.max(this.#last + interval, now - lateness);
    this.#stretchStart ??= now;
    this.#share.sent(now);
    return 0;
  }

  /** An answer that was no refusal, to a request sent at `sentAt`; true where it shows that the refusal before says nothing. */
  accepted(sentAt: number, now: number): boolean {
    this.#letThrough++;
    const known = this.#share.accepted(sentAt, now);
    if (known === "forgiven") this.#goOn(now);
    else if (known !== undefined) this.#setRate(Math.min(this.rateAt(now), known * yielding), now);
    if (this.#refusals > 0 && sentAt >= this.#pausedUntil) this.#probed(now);
    return known === "forgiven";
  }

  /** The first answer after a pause. */
  #probed(now: number): void {
    this.#refusals = 0;
    this.#probeUntil = 0;
    const { count, start } = this.#stretch(now);
    this.#tooFew = count < enough ? { count, start } : undefined;
    if (count >= enough) this.#adjust(now, count, start);
    this.#letThrough = 0;
    this.#stretchStart = now;
    this.#share.slowedTo(this.#rate);
  }

  /** A refusal; false when it changes nothing: it comes whatever the rate, or its request was sent before the pause. */
  refused(sentAt: number, now: number, retryAfter: number | undefined): boolean {
    if (retryAfter === undefined && this.#isUnmoved(sentAt, now)) return false;
    const asked = retryAfter === undefined ? undefined : Math.min(longestRetryAfter, retryAfter);
    if (sentAt < this.#pausedUntil) {
      if (asked !== undefined) this.#pausedUntil = Math.max(this.#pausedUntil, now + asked);
      return false;
    }
    const pause = asked ?? Math.min(longestPause, firstPause * 2 ** this.#refusals);
    if (this.#refusals === 0) this.#pauseStart = now;
    this.#refusals++;
    this.#probeUntil = 0;
    this.#pausedUntil = now + pause;
    return true;
  }

  #isUnmoved(sentAt: number, now: number): boolean {
    const known = this.#share.refused(sentAt, now, this.#refusals === 0 && sentAt >= this.#pausedUntil);
    if (known === "never was") {
      this.#goOn(now);
      this.#setRate(this.#maxRate, now);
    }
    return known !== undefined;
  }

  /** Ends the pause. */
  #goOn(now: number): void {
    this.#refusals = 0;
    this.#probeUntil = 0;
    this.#pausedUntil = now;
  }

  #setRate(rate: number, now: number): void {
    this.#rate = rate;
    this.#cruise = 0;
    this.#rateSince = now;
  }

  /** What was let through since when; stretches before, in which too few were to tell a rate, are added where it takes them. */
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
