/** Smoothing of latencies: the weight of a new one. */
const weight = 0.2;
/** Answers after which a change of the bound has shown its effect. */
const patience = 25;
/** A latency is slow above this many times what it was, and so many milliseconds more. */
const slowFactor = 3;
const slowExtra = 250;

interface Latency {
  smoothed: number;
  /** The estimated latency of the service without load. */
  normal: number;
}

/**
 * How many requests may be in flight: halved by a refusal, a quarter less when the latency grows with the number in flight,
 * and one more for as many good answers as there may be in flight. Never above its maximum, never below 1.
 */
export class InFlightBound {
  readonly #max: number;
  #bound: number;
  #level: number;
  #good = 0;
  #sinceChange = 0;
  /** The smoothed latency at which the bound was lowered, to see whether that helped. */
  #loweredAt: number | undefined;
  readonly #latencies = new Map<string, Latency>();

  constructor(max: number) {
    this.#max = max;
    this.#level = max;
    this.#bound = max;
  }

  get value(): number {
    return Math.min(this.#bound, this.#level);
  }

  /** Whether nothing has lowered it. */
  get isFree(): boolean {
    return this.#bound >= this.#level;
  }

  /** Keeps it below the maximum for another reason. */
  keepTo(level: number): void {
    this.#level = level;
  }

  refused(): void {
    this.#set(Math.floor(this.#bound / 2));
  }

  /** A good answer after so many milliseconds; latencies are compared among requests of one kind. */
  answered(kind: string, milliseconds: number): void {
    const latency = this.#latencies.get(kind) ?? { smoothed: milliseconds, normal: milliseconds };
    latency.smoothed += weight * (milliseconds - latency.smoothed);
    latency.normal = Math.min(latency.normal, latency.smoothed);
    this.#latencies.set(kind, latency);
    this.#good++;
    this.#sinceChange++;
    if (latency.smoothed > slowFactor * latency.normal + slowExtra) this.#yield(latency);
    else if (this.#good >= this.#bound) this.#set(this.#bound + 1);
  }

  /** Fewer in flight; where that changes nothing, the service is just slower now than it was. */
  #yield(latency: Latency): void {
    if (this.#sinceChange < patience) return;
    if (this.#loweredAt !== undefined && latency.smoothed > 0.9 * this.#loweredAt) {
      latency.normal = latency.smoothed;
      this.#loweredAt = undefined;
      return;
    }
    this.#set(this.#bound - Math.ceil(this.#bound / 4));
    this.#loweredAt = latency.smoothed;
  }

  #set(bound: number): void {
    this.#bound = Math.max(1, Math.min(this.#max, bound));
    this.#good = 0;
    this.#sinceChange = 0;
    this.#loweredAt = undefined;
  }
}

/**
 * Finds out whether fewer requests in flight get more done. Pure: time is an argument.
 *
 * Some services have a bound of connections, and one above it waits until another one has been given up, for seconds. A run
 * measures what gets done with all in flight, then with half, if half could get more done. Half as much again is better: then it seeks the
 * highest number that gets as much done, between the good and the bad one, and confirms it with all and with that number once more.
 */

/** Milliseconds until fewer are tried, those in which usual times are learnt, and how many times as long until the next trial. */
const firstTrial = 3_000;
const learning = 1_000;
const rarer = 10;
/** So many times as much done is much better. */
const muchBetter = 3;
/** Answers for every request in flight: those until a change has shown its effect, those from which the effect is seen, and the least of them. */
const warmUp = 2;
const measuring = 4;
const confirming = 8;
const leastAnswers = 32;
/** Times of the longest answer that a change takes to show, and that are measured; at most, at least, and if much is worse. */
const warmUpTime = 1.5;
const measuringTime = 1;
const longestWindow = 15_000;
const leastTime = 500;
const slowTime = 3_000;
/** The share of requests that find all others in flight: below it there was not enough to ask for. */
const fullShare = 0.25;

/** A finding: with `fewer` in flight more gets done than with `many`. */
export interface Finding {
  readonly many: number;
  readonly fewer: number;
}

export class InFlightTrial {
  readonly #max: number;
  readonly #usual = new Map<string, { sum: number; count: number }>();
  readonly #quickest = new Map<string, number>();
  #window: Window | undefined;
  #done: Measured[] = [];
  #longest = 0;
  #begun: number | undefined;
  #next = 0;
  #kept: number;
  /** The number that is to be confirmed. */
  #found: number | undefined;

  constructor(max: number) {
    this.#max = max;
    this.#kept = max;
  }

  /** How many may be in flight. */
  get level(): number {
    return this.#window?.level ?? this.#kept;
  }

  get isOn(): boolean {
    return this.#window !== undefined;
  }

  /** A request was sent, and so many are in flight now, itself included. */
  sent(inFlight: number): void {
    if (!this.#window) return;
    this.#window.sent++;
    if (inFlight >= this.#window.level) this.#window.full++;
  }

  /** Fewer are in flight for another reason: what was measured says nothing. */
  disturbed(now: number): void {
    if (this.#window) this.#stop(now);
  }

  /** A good answer after so many milliseconds; `isFree`: nothing else bounds the number in flight. */
  answered(kind: string, milliseconds: number, now: number, isFree: boolean): Finding | undefined {
    this.#longest = Math.max(this.#longest, milliseconds);
    const quickest = Math.min(this.#quickest.get(kind) ?? milliseconds, milliseconds);
    this.#quickest.set(kind, quickest);
    const window = this.#window;
    if (!window) {
      this.#wait(kind, milliseconds, now, isFree);
      return undefined;
    }
    if (!this.#isWarm(window, milliseconds, now)) return undefined;
    window.begun ??= now;
    window.longest = Math.max(window.longest, milliseconds);
    window.answers++;
    window.times.push(milliseconds);
    window.work += this.#weightOf(kind);
    window.single = Math.max(window.single, this.#weightOf(kind) / Math.max(0.001, quickest));
    if (!this.#isOver(window, now - window.begun)) return undefined;
    if (window.full >= fullShare * window.sent) return this.#measured(window, now - window.begun, now);
    this.#stop(now);
    return undefined;
  }

  #wait(kind: string, milliseconds: number, now: number, isFree: boolean): void {
    const usual = this.#usual.get(kind) ?? { sum: 0, count: 0 };
    this.#usual.set(kind, { sum: usual.sum + milliseconds, count: usual.count + 1 });
    this.#begun ??= now;
    this.#next ||= now + learning;
    if (isFree && this.#kept === this.#max && this.#max > 2 && now >= this.#next) this.#open(this.#max, now);
  }

  /** As it was before the trial: one weight for all of its windows. */
  #weightOf(kind: string): number {
    const { sum, count } = this.#usual.get(kind) ?? { sum: 1, count: 1 };
    return Math.max(0.001, sum / count);
  }

  /** With all in flight nothing changes at first. With fewer, an answer may hang that was asked for before. */
  #isWarm(window: Window, milliseconds: number, now: number): boolean {
    const time = now - window.opened;
    const isAll = window.level === this.#max;
    if (isAll && this.#done.length === 0) return true;
    const shows = Math.min(longestWindow, warmUpTime * this.#longest);
    const isLeft = !isAll && milliseconds > this.#longest / 3 && time < shows;
    if (window.warmUps >= warmUp * window.level && !isLeft) return true;
    Object.assign(window, emptyWindow(window.level, window.opened), { warmUps: window.warmUps + 1 });
    return false;
  }

  /** With fewer in flight, their own longest answer says how long to measure, once some were due that hang as with all. */
  #isOver(window: Window, time: number): boolean {
    const isAll = window.level === this.#max;
    if (time >= slowTime && this.#isStalled(window, time)) return true;
    const due = isAll ? 0 : (this.#found === undefined ? measuring : confirming) * this.#perHanging();
    if (window.answers < Math.max(leastAnswers, measuring * window.level, due)) return false;
    const least = this.#done.length === 0 ? firstTrial - learning : Math.max(leastTime, this.#longest / 2);
    const longest = isAll ? this.#longest : window.longest;
    return time >= Math.max(least, Math.min(longestWindow, measuringTime * longest));
  }

  /** Much less gets done, though most answers are quick. */
  #isStalled({ times, work }: Window, time: number): boolean {
    const most = Math.max(0, ...this.#done.map(({ rate }) => rate));
    return (muchBetter * work) / time < most && this.#hanging(times) < times.length / 2;
  }

  #hanging(times: readonly number[]): number {
    return times.filter((time) => time >= this.#longest / 2).length;
  }

  /** With all in flight, an answer of so many hangs. */
  #perHanging(): number {
    const all = this.#done.filter(({ level }) => level === this.#max);
    const sum = (numbers: readonly number[]) => numbers.reduce((before, number) => before + number, 0);
    return sum(all.map(({ answers }) => answers)) / Math.max(1, sum(all.map(({ hanging }) => hanging)));
  }

  #measured({ times, work, ...window }: Window, time: number, now: number): Finding | undefined {
    const rate = work / Math.max(0.001, time);
    this.#done.push({ ...window, rate, hanging: this.#hanging(times) });
    if (this.#found !== undefined) return this.#confirm(this.#found, now);
    const next = nextLevel(this.#done, this.#longest / 3);
    if (next === undefined) this.#stop(now);
    else if ("found" in next) this.#found = next.found;
    if (next) this.#open("found" in next ? this.#max : next.measure, now);
    return undefined;
  }

  #confirm(found: number, now: number): Finding | undefined {
    const last = this.#done.at(-1);
    const all = this.#done.filter(({ level }) => level === this.#max).map(({ rate }) => rate);
    if (last?.level === this.#max) this.#open(found, now);
    if (!last || last.level === this.#max) return undefined;
    this.#stop(now);
    if (last.rate < better * Math.max(...all)) return undefined;
    this.#kept = found;
    return { many: this.#max, fewer: found };
  }

  #open(level: number, now: number): void {
    this.#window = emptyWindow(level, now);
  }

  #stop(now: number): void {
    this.#window = undefined;
    this.#done = [];
    this.#longest = 0;
    this.#found = undefined;
    this.#next = now + (rarer - 1) * (now - (this.#begun ?? now));
  }
}

/** Decides which number of requests in flight to measure next. Pure. */

/** So many times as much done is better; so much less is worse. */
const better = 1.5;
const worse = 0.8;
/** A number in flight is as good as a lower one with so much of its throughput; numbers so close to each other are one. */
const asGood = 0.97;
const close = 0.2;

/** The work done a second with so many in flight, and the share of answers that hung. */
interface Measured {
  readonly level: number;
  readonly rate: number;
  readonly longest: number;
  readonly answers: number;
  readonly hanging: number;
  /** The most that one request after the other gets done, if each takes as long as the quickest of its kind so far. */
  readonly single: number;
}

/**
 * Halves the number until more gets done, then looks between the best number and the lowest one above it that is no better. It does
 * not halve where half as many could not get enough done even if each request took as long as the quickest of its kind.
 * `measure`: the next number. `found`: the best one. undefined: fewer are no better. `done` begins with all in flight;
 * an answer that took more than `hanging` milliseconds hung.
 */
function nextLevel(
  done: readonly Measured[],
  hanging: number,
): { readonly measure: number } | { readonly found: number } | undefined {
  const [all] = done;
  const last = done.at(-1);
  if (!all || !last) return undefined;
  const best = bestOf(all, done);
  const half = last.level >> 1;
  const isLowest = done.every(({ level }) => level >= last.level);
  if (best && isLowest && half > 0 && last.longest > hanging) return { measure: half };
  const mayBeBetter = half > 0 && last.rate > worse * all.rate && half * all.single >= better * all.rate;
  if (!best) return mayBeBetter ? { measure: half } : undefined;
  const above = Math.min(...done.map(({ level }) => level).filter((level) => level > best.level));
  const isClose = above - best.level <= Math.max(1, close * best.level);
  return isClose ? { found: best.level } : { measure: (best.level + above) >> 1 };
}

/** The highest number that is better than all, and about as good as each lower one. */
function bestOf(all: Measured, done: readonly Measured[]): Measured | undefined {
  let best: Measured | undefined;
  for (const one of done.toSorted((a, b) => a.level - b.level)) {
    const isGood = one.rate >= Math.max(better * all.rate, asGood * (best?.rate ?? 0));
    if (one.level < all.level && isGood) best = one;
  }
  return best;
}

/** A stretch of time with one number in flight, as far as it is measured. */
interface Window {
  readonly level: number;
  readonly opened: number;
  begun: number | undefined;
  warmUps: number;
  longest: number;
  answers: number;
  readonly times: number[];
  work: number;
  /** The most work a millisecond that one request after the other could get done: by the kind whose quickest answer was worth most. */
  single: number;
  sent: number;
  full: number;
}

/** One that was opened at this moment, with nothing measured yet. */
function emptyWindow(level: number, opened: number): Window {
  const counts = { warmUps: 0, longest: 0, answers: 0, work: 0, single: 0, sent: 0, full: 0 };
  return { level, opened, begun: undefined, times: [], ...counts };
}
