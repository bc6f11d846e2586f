import { longestRetryAfter } from "./send.js";

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

/**
 * Tells refusals of a limit from refusals by chance, which come whatever the rate. Both are a 429 without Retry-After. Pure.
 *
 * A run far above a limit is refused nearly always. A level goes up by one for every refusal and down by one for every other
 * answer; a level of seven is a limit. Chance that refuses a share p reaches a level n with a probability of about
 * (p / (1 - p)) ** n: 2e-7 for a tenth. The level is higher where a larger share is known.
 *
 * A run a little above a limit is refused now and then, as by chance. The two differ below the rate that is let through: a
 * limit refuses nothing there, chance refuses the same share. Five refusals therefore start a trial at 0.7 times that rate,
 * which ends when the shares before and during the trial are clearly one, or clearly two. A share that stays is known from
 * then on: only an excess over it starts the next trial.
 *
 * A limit that was found refuses rarely, as the rate eases with each of its refusals. If they go on until the rate is a
 * quarter, the limit is doubtful, and a trial decides. So a limit beside chance is kept to, and chance alone is found out.
 */

/** Refusals above the expected ones that start a trial: while no share is known, and afterwards. */
const firstExcess = 5;
const laterExcess = 10;
/** The expected share: this one; or so many times the known one, and at most so much above it. */
const usualShare = 0.015;
const [leeway, mostLeeway] = [1.5, 0.06];
/** The level of a limit while no share is known; later, the probability with which chance reaches it. */
const firstTop = 7;
const improbable = 1e-7;
/** The rate of a trial, against what is let through since the first refusal, and against what was before, with a burst in it. */
const [slower, muchSlower] = [0.7, 0.2];
/** The logarithm of how many times as likely two shares are than one: at most so much if they are one, more if they are two. */
const same = 1;
const different = { free: 11, limited: 4.5 };
/** Refusals and answers of a trial from which a share is known; it may be no larger than this. */
const enoughRefusals = 3;
const enoughAnswers = 40;
const largestShare = 0.35;
/** Refusals of a limit, each so many milliseconds after the one before, that lower the rate so much make it doubtful. */
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
  /** Requests a second. */
  readonly cap: number;
  /** Requests a second that were let through before. */
  readonly rate: number;
  readonly isLimited: boolean;
}

/** The outcome of a trial: the rate to go on with, and whether it is that of a limit that was not known. */
interface Outcome {
  readonly rate: number;
  readonly isLimit: boolean;
}

class Refusals {
  /** The known share that chance refuses. */
  #share = 0;
  #level = 0;
  #excess = 0;
  /** From the first refusal above the expected ones on, that one left out. */
  #sample = emptySample(0);
  #trial: Trial | undefined;
  /** The rate of a limit before refusals followed one another, and the time of the last one. */
  #calmRate = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** Requests a second that may be sent during a trial. */
  get cap(): number {
    return this.#trial?.cap ?? Number.POSITIVE_INFINITY;
  }

  /** An answer that was no refusal, to a request sent at `sentAt`; `rate`: requests let through a second until now. */
  accepted(sentAt: number, now: number, isLimited: boolean, rate: number): Outcome | undefined {
    this.#level = Math.max(0, this.#level - 1);
    this.#count(sentAt, 0);
    if (this.#trial) return this.#endTrial(this.#trial, now);
    if (!isLimited && this.#excess >= this.#mostExcess) this.#try(now, false, rate);
    return undefined;
  }

  /** A refusal; `limit`: the rate to which a limit holds the run, if one was found. */
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

/** Requests a second that were let through; one at the least, as the next one would be. */
function letThrough({ since, answers, refused }: Sample, now: number): number {
  return (1000 * Math.max(1, answers - refused)) / Math.max(1, now - since);
}

/** The logarithm of how many times as likely the samples are if the second has a smaller share than if both have the same. */
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
