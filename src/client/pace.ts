import { longestRetryAfter } from "./send.js";

/** The pace of a whole run: when the next request may be sent, and how many may be in flight. Pure: time is an argument. */

/** The pause after a refusal without Retry-After: 1 s, doubled with every further refusal. */
const firstPause = 1_000;
const longestPause = 60_000;
/** A limit that only a trial has found may not exist: the first pause lasts at most as long as this many requests take. */
const pausedRequests = 20;
/** Refusals in a row, with a pause after each, that confirm a limit. */
const sureRefusals = 3;

/** Growth of the rate per second: while the limit is sought, and during the first seconds (`cruise`) after it was met. */
const seeking = 0.06;
const cruising = 0.003;
const cruise = 20;
/** Factors for a rate that was slightly too fast, and for one that was refused within seconds. */
const easing = 0.93;
const yielding = 0.8;
const atOnce = 2_500;
/** The fewest answers from which a rate is computed. */
const enough = 5;
/** A pause up to this many milliseconds is short. */
const shortPause = 2_500;
/** Milliseconds to wait for the first request after a pause, and between checks for its answer. */
const longestProbe = 5_000;
const probePoll = 20;
/** Milliseconds that a timer may be late without lowering the rate. */
const lateness = 5;
/** Milliseconds between looks at a rate that is set elsewhere. */
const followPoll = 50;

/** What a refusal means. limit: all requests pause now. known: they already pause. chance: it says nothing about the rate. */
export type Cause = "limit" | "known" | "chance";

/**
 * A smooth rate that finds the limit of the service. It is unbounded, or `maxRps`, until a refusal shows a limit. Then all requests
 * pause for as long as the service says, and continue at the rate that got through before, pause included. From there it grows slowly.
 */
export class Pace {
  readonly #maxRate: () => number;
  /** Whether the maximum may change. */
  readonly #isFollowing: boolean;
  #rate: number;
  #rateSince = 0;
  /** Seconds of cruising after `rateSince`. */
  #cruise = 0;
  /** When the last request was due, had no timer been late. */
  #last = Number.NEGATIVE_INFINITY;
  #pauseStart = 0;
  /** After a pause, one request goes first. The others wait for its answer, or until this time. */
  #probeUntil = 0;
  #pausedUntil = 0;
  #refusals = 0;
  #letThrough = 0;
  #stretchStart: number | undefined;
  #tooFew: { readonly count: number; readonly start: number } | undefined;
  #isLimited = false;
  /** Whether the limit is confirmed. */
  #isSure = false;
  readonly #causes = new Refusals();

  /** `maxRps`: the maximum requests per second; a function if it changes. It may return 0 for a while. */
  constructor(maxRps: number | (() => number) = Number.POSITIVE_INFINITY) {
    this.#isFollowing = typeof maxRps === "function";
    this.#maxRate = typeof maxRps === "function" ? maxRps : () => maxRps;
    this.#rate = typeof maxRps === "function" ? Number.POSITIVE_INFINITY : maxRps;
  }

  /** The maximum requests per second at this time. */
  rateAt(now: number): number {
    const seconds = (now - this.#rateSince) / 1000;
    const slowly = Math.min(seconds, this.#cruise);
    return Math.min(this.#maxRate(), this.#rate * (1 + cruising) ** slowly * (1 + seeking) ** (seconds - slowly));
  }

  /** Whether only `maxRps` holds requests back: there is no pause, and no limit was met. */
  isAtMost(now: number): boolean {
    const most = this.#maxRate();
    return now >= this.#pausedUntil && this.rateAt(now) >= most && this.#causes.cap >= most;
  }

  /** Milliseconds until the pause ends. */
  pauseLeft(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** 0: send now; the request is counted. Otherwise the milliseconds after which to ask again. */
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

  /** Reports an answer other than a refusal to a request sent at `sentAt`. */
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

  /** Reports a refusal; `retryAfter`: the milliseconds that the service asks to wait, if it says. */
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

  /** How many requests got through, and since when. An earlier stretch is added if this one has too few requests for a rate. */
  #stretch(now: number): { readonly count: number; readonly start: number } {
    const start = this.#stretchStart ?? now;
    const before = this.#letThrough < enough ? this.#tooFew : undefined;
    return { count: this.#letThrough + (before?.count ?? 0), start: before?.start ?? start };
  }

  /**
   * Sets the rate after a pause. If the pause was short compared with the time before it, the rate was only slightly too fast. If it was
   * long, the new rate is the number of requests that got through, divided by the time including the pause.
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

/**
 * Tells the refusals of a rate limit from random ones, which come at any rate. Both are a 429 without Retry-After. Pure.
 *
 * Far above a limit, nearly every request is refused. A level rises by one with every refusal and falls by one with every other
 * answer; at seven, there is a limit. Random refusals of a share p reach level n with a probability of about
 * (p / (1 - p)) ** n: 2e-7 for p = 0.1. If a larger share is known, the level has to be higher.
 *
 * Slightly above a limit, some requests are refused, as if at random. The two differ below the rate that gets through: a limit
 * refuses nothing there, random refusals keep their share. So five refusals start a trial at 0.7 times that rate. It ends when the
 * shares before and during the trial are clearly equal or clearly different. A share that stays is known from then on: only more
 * refusals than it predicts start the next trial.
 *
 * A limit that was found refuses rarely, because each refusal lowers the rate. If refusals continue until the rate is a quarter, the
 * limit is doubtful, and a trial decides. So a limit is kept even if there are random refusals, and random refusals alone do not slow a run.
 */

/** Unexpected refusals that start a trial: while no share is known, and later. */
const firstExcess = 5;
const laterExcess = 10;
/** The expected share of random refusals; or, once a share is known, `leeway` times that, at most `mostLeeway` above it. */
const usualShare = 0.015;
const [leeway, mostLeeway] = [1.5, 0.06];
/** The level that shows a limit while no share is known; later, the probability of reaching the level at random. */
const firstTop = 7;
const improbable = 1e-7;
/** The rate of a trial, relative to what got through since the first refusal, and to what got through before, bursts included. */
const [slower, muchSlower] = [0.7, 0.2];
/** Log-likelihood ratio of two different shares against one: below `same` they are equal, above `different` they are not. */
const same = 1;
const different = { free: 11, limited: 4.5 };
/** The fewest refusals and answers in a trial that give a share, and the largest share that counts as random. */
const enoughRefusals = 3;
const enoughAnswers = 40;
const largestShare = 0.35;
/** A limit is doubtful if refusals at most `soon` milliseconds apart lower the rate by the factor `fall`. */
const soon = 20_000;
const fall = 4;

interface Sample {
  readonly since: number;
  answers: number;
  refused: number;
}

interface Trial {
  readonly before: Sample;
  readonly sample: Sample;
  /** Requests per second. */
  readonly cap: number;
  /** Requests per second that got through before. */
  readonly rate: number;
  readonly isLimited: boolean;
}

/** The outcome of a trial: the rate to continue with, and whether the trial found a limit. */
interface Outcome {
  readonly rate: number;
  readonly isLimit: boolean;
}

class Refusals {
  /** The share of random refusals, once known. */
  #share = 0;
  #level = 0;
  #excess = 0;
  /** Answers since the first unexpected refusal, which is not counted. */
  #sample = emptySample(0);
  #trial: Trial | undefined;
  /** The rate before the current series of refusals, and the time of the last refusal. */
  #calmRate = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** The maximum requests per second during a trial. */
  get cap(): number {
    return this.#trial?.cap ?? Number.POSITIVE_INFINITY;
  }

  /** Reports an answer other than a refusal; `rate`: requests per second that got through until now. */
  accepted(sentAt: number, now: number, isLimited: boolean, rate: number): Outcome | undefined {
    this.#level = Math.max(0, this.#level - 1);
    this.#count(sentAt, 0);
    if (this.#trial) return this.#endTrial(this.#trial, now);
    if (!isLimited && this.#excess >= this.#mostExcess) this.#try(now, false, rate);
    return undefined;
  }

  /** Reports a refusal; `limit`: the rate of the limit, if one was found. */
  refused(sentAt: number, now: number, limit: number | undefined): "limit" | "chance" | Outcome {
    this.#level++;
    this.#count(sentAt, 1);
    if (this.#level >= this.#top) return this.#found(now);
    if (this.#trial) return this.#endTrial(this.#trial, now) ?? "chance";
    if (limit === undefined) return "chance";
    if (this.#share === 0) return this.#doubt(limit, sentAt, now);
    return this.#excess < this.#mostExcess ? "chance" : this.#found(now);
  }

  get #mostExcess(): number {
    return this.#share === 0 ? firstExcess : laterExcess;
  }

  get #top(): number {
    if (this.#share === 0) return firstTop;
    return Math.max(firstTop, Math.ceil(Math.log(improbable) / Math.log(this.#share / (1 - this.#share))));
  }

  #count(sentAt: number, refused: 0 | 1): void {
    const isFirst = this.#excess === 0 && refused === 1 && !this.#trial;
    if (isFirst) this.#sample = emptySample(sentAt);
    const sample = this.#trial?.sample ?? this.#sample;
    if (sentAt < sample.since) return;
    const expected = Math.max(usualShare, Math.min(leeway * this.#share, this.#share + mostLeeway));
    this.#excess = Math.max(0, this.#excess + refused - expected);
    if (isFirst) return;
    sample.answers++;
    sample.refused += refused;
  }

  #found(now: number): "limit" {
    this.#restart(now);
    return "limit";
  }

  #doubt(rate: number, sentAt: number, now: number): "limit" | "chance" {
    if (now - this.#lastAt > soon || rate >= this.#calmRate) {
      this.#calmRate = rate;
      this.#sample = emptySample(sentAt);
    }
    this.#lastAt = now;
    this.#level = 0;
    if (rate > this.#calmRate / fall || !Number.isFinite(this.#calmRate)) return "limit";
    this.#try(now, true, 0);
    return "chance";
  }

  #try(now: number, isLimited: boolean, rate: number): void {
    const cap = Math.max(slower * letThrough(this.#sample, now), muchSlower * rate);
    const [before, sample] = [this.#sample, emptySample(now)];
    this.#trial = { before, sample, cap, rate: Math.max(rate, letThrough(before, now)), isLimited };
  }

  #endTrial({ before, sample, cap, rate, isLimited }: Trial, now: number): Outcome | undefined {
    const evidence = evidenceOfTwoShares(before, sample);
    if (evidence > different[isLimited ? "limited" : "free"]) {
      if (sample.refused >= enoughRefusals) this.#share = shareOf(sample);
      this.#restart(now);
      return { rate, isLimit: true };
    }
    if (sample.refused < enoughRefusals || sample.answers < enoughAnswers) return undefined;
    if (evidence < same && shareOf(sample) < largestShare) {
      this.#share = shareOf(sample);
      this.#restart(now);
      return { rate: isLimited ? this.#calmRate : Number.POSITIVE_INFINITY, isLimit: false };
    }
    const lower = { before: sample, sample: emptySample(now), cap: slower * cap, rate: letThrough(sample, now) };
    this.#trial = { ...lower, isLimited };
    return undefined;
  }

  #restart(now: number): void {
    this.#trial = undefined;
    this.#sample = emptySample(now);
    this.#excess = 0;
    this.#level = 0;
  }
}

function emptySample(since: number): Sample {
  return { since, answers: 0, refused: 0 };
}

function shareOf({ answers, refused }: Sample): number {
  return refused / Math.max(1, answers);
}

/** Requests per second that got through; at least one request counts. */
function letThrough({ since, answers, refused }: Sample, now: number): number {
  return (1000 * Math.max(1, answers - refused)) / Math.max(1, now - since);
}

/** The log-likelihood ratio of a smaller share in the second sample against one share in both. */
function evidenceOfTwoShares(first: Sample, second: Sample): number {
  if (shareOf(second) >= shareOf(first)) return 0;
  const both = { since: 0, answers: first.answers + second.answers, refused: first.refused + second.refused };
  return likelihoodOf(first) + likelihoodOf(second) - likelihoodOf(both);
}

function likelihoodOf(sample: Sample): number {
  const share = shareOf(sample);
  const term = (count: number, part: number) => (count > 0 ? count * Math.log(part) : 0);
  return term(sample.refused, share) + term(sample.answers - sample.refused, 1 - share);
}
