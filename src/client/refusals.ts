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
const telling = 3;
const enough = 40;
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
export interface Outcome {
  readonly rate: number;
  readonly isLimit: boolean;
}

export class Refusals {
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
      if (sample.refused >= telling) this.#share = shareOf(sample);
      this.#restart(now);
      return { rate, isLimit: true };
    }
    if (sample.refused < telling || sample.answers < enough) return undefined;
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
