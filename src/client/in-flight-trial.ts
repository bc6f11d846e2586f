/** Whether fewer requests in flight get more done. Pure: time is an argument. */

/** Milliseconds until a run is worth a trial, and how many times as long until the next one. */
const firstTrial = 3_000;
const rarer = 10;
/** So many times as much done is better; so much less is worse. Between these a service is just busy. */
const better = 1.5;
const worse = 0.8;
/** Of this much, a number in flight that is higher is as good. */
const asGood = 0.9;
/** Answers for every request in flight: until a change has shown its effect, and from which it is told; the least of these. */
const settling = 2;
const measuring = 4;
const leastAnswers = 32;
/** As many times as long as the longest answer, at most so many milliseconds each: one that hangs has its effect only then. */
const settlingTime = 1.2;
const measuringTime = 3;
const longestWindow = 15_000;
/** The share of requests that find all others in flight: below it there was not enough to ask for. */
const fullShare = 0.25;

/** What was found: with `fewer` in flight more gets done than with `many`. */
export interface Finding {
  readonly many: number;
  readonly fewer: number;
}

interface Window {
  readonly level: number;
  readonly opened: number;
  settled: number;
  begun: number;
  longest: number;
  answers: number;
  work: number;
  sent: number;
  full: number;
}

/**
 * Compares how much gets done with all and with half of the requests in flight, and with less where that changes nothing.
 * Some services get slower with more connections than they have workers: a connection waits there until another one has been
 * given up. Fewer are kept only where they get half as much more done, twice in turn. Answers of different kinds count by what
 * they usually take.
 */
export class InFlightTrial {
  readonly #max: number;
  readonly #usual = new Map<string, { sum: number; count: number }>();
  #window: Window | undefined;
  /** Levels yet to be measured, the next one first. */
  #plan: number[] = [];
  /** What was done a second with so many in flight, in the order of the windows. */
  #done: { readonly level: number; readonly rate: number; readonly longest: number }[] = [];
  #longest = 0;
  #next: number | undefined;
  #kept: number;

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
    if (!this.#window) {
      this.#learn(kind, milliseconds);
      this.#next ??= now + firstTrial;
      if (isFree && this.#kept === this.#max && this.#max > 2 && now >= this.#next) {
        this.#open([this.#max, this.#max >> 1], now);
      }
      return undefined;
    }
    const window = this.#window;
    const settled = Math.min(longestWindow, settlingTime * this.#longest);
    if (window.begun === 0 && (window.settled < settling * window.level || now - window.opened < settled)) {
      window.settled++;
      [window.sent, window.full] = [0, 0];
      return undefined;
    }
    if (window.begun === 0) window.begun = now;
    window.longest = Math.max(window.longest, milliseconds);
    window.answers++;
    window.work += this.#weightOf(kind);
    if (window.answers < Math.max(leastAnswers, measuring * window.level)) return undefined;
    if (now - window.begun < Math.min(longestWindow, measuringTime * this.#longest)) return undefined;
    if (window.full < fullShare * window.sent) this.#stop(now);
    else return this.#measured(window, now);
    return undefined;
  }

  #learn(kind: string, milliseconds: number): void {
    const usual = this.#usual.get(kind) ?? { sum: 0, count: 0 };
    usual.sum += milliseconds;
    usual.count++;
    this.#usual.set(kind, usual);
  }

  /** As it was before the trial: one weight for all of its windows. */
  #weightOf(kind: string): number {
    const { sum, count } = this.#usual.get(kind) ?? { sum: 1, count: 1 };
    return Math.max(0.001, sum / count);
  }

  #open(plan: readonly number[], now: number): void {
    const [level, ...rest] = plan;
    const counts = { opened: now, settled: 0, begun: 0, longest: 0, answers: 0, work: 0, sent: 0, full: 0 };
    this.#plan = rest;
    this.#window = level === undefined ? undefined : { level, ...counts };
  }

  #stop(now: number): void {
    this.#open([], now);
    this.#done = [];
    this.#longest = 0;
    this.#next = now + (rarer - 1) * Math.max(firstTrial, now - (this.#next ?? now) + firstTrial);
  }

  #measured({ level, work, begun, longest }: Window, now: number): Finding | undefined {
    this.#done.push({ level, rate: work / Math.max(0.001, now - begun), longest });
    if (this.#plan.length > 0) this.#open(this.#plan, now);
    else return this.#decide(now);
    return undefined;
  }

  /** What comes next, now that all that was planned is measured. */
  #decide(now: number): Finding | undefined {
    const [all] = this.#done;
    const last = this.#done.at(-1);
    if (!all || !last) return undefined;
    const best = this.#best();
    const isConfirmed = this.#done.filter(({ level }) => level === this.#max).length > 1;
    if (isConfirmed) return this.#conclude(best, now);
    const ratio = last.rate / all.rate;
    const isRefined = this.#done.some(({ level }, index) => level > (this.#done[index - 1]?.level ?? level));
    const half = last.level >> 1;
    const between = best + Math.floor((this.#above(best) - best) / 2);
    // where one answer still takes as long as with all, the number in flight is still too high
    if (best > 0 && !isRefined && half > 1 && last.longest > all.longest / 3) this.#open([half], now);
    else if (best > 0 && !isRefined && between > best) this.#open([between], now);
    else if (best > 0) this.#open([this.#max, best], now);
    else if (ratio > worse && half > 1) this.#open([half], now);
    else this.#stop(now);
    return undefined;
  }

  /** The next higher level that is measured. */
  #above(level: number): number {
    return Math.min(...this.#done.map((one) => one.level).filter((other) => other > level));
  }

  /** The highest level that gets about as much done as the best one; 0 where none is better than all. */
  #best(): number {
    const all = Math.max(...this.#done.filter(({ level }) => level === this.#max).map(({ rate }) => rate));
    const good = this.#done.filter(({ level, rate }) => level < this.#max && rate >= better * all);
    const top = Math.max(0, ...good.map(({ rate }) => rate));
    return Math.max(0, ...good.filter(({ rate }) => rate >= asGood * top).map(({ level }) => level));
  }

  #conclude(best: number, now: number): Finding | undefined {
    const last = this.#done.at(-1);
    const isBetter = best > 0 && last?.level === best && this.#done.filter(({ level }) => level === best).length > 1;
    const isAgain = isBetter && last.rate >= better * Math.max(...this.#ratesOfAll());
    this.#stop(now);
    if (!isAgain) return undefined;
    this.#kept = best;
    return { many: this.#max, fewer: best };
  }

  #ratesOfAll(): readonly number[] {
    return this.#done.filter(({ level }) => level === this.#max).map(({ rate }) => rate);
  }
}
