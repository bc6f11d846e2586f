/** Milliseconds until the first request that looks whether somebody is back; doubled every time. */
const firstProbe = 500;
const longestProbe = 5_000;
/** From so many places on nobody is there for anyone: it is not the fault of a page. */
const manyPlaces = 3;

export interface OutageOptions {
  /** Milliseconds until it is given up, by whether it is sure that nobody is there. */
  readonly patience: (isSure: boolean) => number;
  /** Requests in vain in a row that make an outage, where one alone may be the fault of a page. */
  readonly inVain: number;
  readonly now: () => number;
  /** Rejects when everything ends. */
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Whether somebody was there before: if not, the outage is reported at once, without a probe that confirms it. */
  readonly isReached: () => boolean;
  /** Whether it was reported. */
  readonly began: (reason: string, patience: number) => boolean;
  readonly ended: (milliseconds: number) => void;
}

/** A time in which nobody is there: one request asks for all, the others wait. It has a clock of its own. */
export class Outage {
  readonly #options: OutageOptions;
  #since: number | undefined;
  #isSure = false;
  #misses = 0;
  readonly #places = new Set<string>();
  #isOn = false;
  #isTold = false;
  #isOver = false;
  #probe: "none" | "due" | "under way" = "none";
  #wait = firstProbe;
  #waiting: (() => void)[] = [];

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** go; or ask for all; or wait until somebody else has. */
  take(): "go" | "probe" | "wait" {
    if (!this.#isOn || this.#isOver) return "go";
    if (this.#probe !== "due") return "wait";
    this.#probe = "under way";
    return "probe";
  }

  /** The service answered: ends the outage. */
  met(): void {
    if (this.#since === undefined) return;
    const { now, ended } = this.#options;
    if (this.#isTold && !this.#isOver) ended(now() - (this.#since ?? now()));
    this.#since = undefined;
    this.#misses = 0;
    this.#wait = firstProbe;
    this.#probe = "none";
    this.#places.clear();
    [this.#isSure, this.#isOn, this.#isTold, this.#isOver] = [false, false, false, false];
    this.#wake();
  }

  /** A request to this place, sent at `sentAt`, found no service. */
  missed(place: string, isSure: boolean, sentAt: number, reason: string, isProbe: boolean): void {
    if (this.#isOver) return;
    const { patience, inVain, now, isReached, began } = this.#options;
    this.#since ??= sentAt;
    this.#isSure ||= isSure;
    this.#misses++;
    this.#places.add(place);
    const isEnough = this.#misses >= inVain || (this.#places.size === 1 && this.#misses >= 3);
    const isNew = !this.#isOn && (isSure || isEnough);
    this.#isOn ||= isNew;
    if (!this.#isOn) return;
    if (now() - this.#since >= patience(this.#isSure)) {
      this.#isOver = true; // whoever met nobody now ends the wait of all
    } else if (isNew || isProbe) {
      if ((isProbe || !isReached()) && !this.#isTold) this.#isTold = began(reason, patience(this.#isSure));
      void this.#lookLater();
    }
  }

  /** The request that asked for all ended without a word on whether somebody is there. */
  probedInVain(): void {
    if (this.#isOn && this.#probe === "under way") void this.#lookLater();
  }

  /** Lets nobody wait any longer. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** It has lasted longer than there is patience for. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether a request in vain is none of its own fault, and uses up none of its tries. */
  get isForAll(): boolean {
    const isOfMany = this.#places.size >= manyPlaces || !this.#options.isReached();
    return this.#isOn && (this.#isSure || isOfMany);
  }

  /** Resolves when it is this one's turn to ask for all, when somebody is back, and when it is over. */
  wait(): Promise<void> {
    if (!this.#isOn || this.#isOver || (this.#probe === "due" && this.#waiting.length === 0)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #lookLater(): Promise<void> {
    const { now, sleep, patience } = this.#options;
    this.#probe = "none";
    const left = patience(this.#isSure) - (now() - (this.#since ?? now()));
    const wait = Math.max(1, Math.min(this.#wait, left));
    this.#wait = Math.min(longestProbe, 2 * this.#wait);
    await sleep(wait).catch(() => {});
    if (!this.#isOn || this.#probe !== "none") return;
    this.#probe = "due";
    this.#waiting.shift()?.();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}
