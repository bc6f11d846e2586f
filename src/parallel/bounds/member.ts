import type { SharedSlot } from "../../client/paced.js";
import { Balance, Demand, Standing, shareOf } from "./balance.js";
import { type Board, type Clock, type Look, leaseTime } from "./board.js";
import type { Slot, Slots } from "./slots.js";

interface MemberOptions extends NoticesOptions {
  readonly concurrency: number;
  readonly maxRps: number;
  /** Requests of this process at the most. */
  readonly most: number;
  readonly slots: Slots;
  readonly board: Board;
  readonly clock: Clock;
}

/** One of the processes that share the places of a service. It asks the broker about every second, and not at all while it has no requests. */
export class Member {
  readonly #options: MemberOptions;
  readonly #line = new WaitingLine<SharedSlot>();
  readonly #demand: Demand;
  readonly #standing: Standing;
  readonly #balance: Balance;
  readonly #notices: Notices;
  readonly #beats = new Beats(() => this.#beat());
  #inUse = 0;
  #isAwake = false;
  #isAlone = false;
  /** The places that it had use for at the last beat. */
  #wanted = 0;
  #members = 1;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#demand = new Demand(options.concurrency);
    this.#standing = new Standing(this.#now());
    this.#notices = new Notices(options);
    const { slots, board, concurrency } = options;
    const mayTake = async () => (await this.#lookAround()) !== undefined;
    this.#balance = new Balance({ slots, board, concurrency, mayTake, now: () => this.#now() });
  }

  enter(signal: AbortSignal): Promise<SharedSlot> {
    const slot = this.#line.join(signal);
    if (!this.#isAwake) this.#wake();
    this.#demand.note(this.#inUse + this.#line.length, this.#now());
    this.#serve();
    if (this.#line.length > 0) this.#askForMore();
    return slot;
  }

  rate(): number {
    const { maxRps, concurrency, slots } = this.#options;
    if (maxRps === Number.POSITIVE_INFINITY) return maxRps;
    const held = slots.sure.length;
    const isAlone = held === 0 && this.#standing.isAlone(this.#now());
    return isAlone ? maxRps / this.#members : (maxRps * held) / concurrency;
  }

  /** Requests that this process may have in flight whatever the others want, by the last look at the board. */
  share(): number {
    return Math.min(this.#options.most, shareOf({ ...this.#options, members: this.#members }));
  }

  slowed(): void {
    this.#demand.slowed(this.#now());
    this.#askForMore();
  }

  /** Looks at once whether there are places to take or to give back. */
  look(): void {
    if (this.#isAwake) this.#beats.ask();
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    await this.#beats.end();
    await this.#options.slots.giveAllBack();
  }

  #now(): number {
    return this.#options.clock().steady;
  }

  #serve(): void {
    const { slots, most } = this.#options;
    while (this.#line.length > 0 && this.#inUse < most) {
      const slot = slots.idle;
      if (!slot) break;
      this.#line.serve(this.#use(slot));
    }
    const isFree = this.#line.length > 0 && !this.#isAlone && slots.sure.length === 0;
    if (isFree && this.#standing.isAlone(this.#now())) this.#line.serve(this.#goAlone());
  }

  #use(slot: Slot): SharedSlot {
    slot.isUsed = true;
    return this.#inFlight({
      isSure: () => this.#options.slots.isSure(slot),
      leave: () => {
        slot.isUsed = false;
        this.#balance.left(slot);
      },
    });
  }

  /** A place that the broker knows nothing of. */
  #goAlone(): SharedSlot {
    this.#isAlone = true;
    return this.#inFlight({
      isSure: () => this.#standing.isAlone(this.#now()),
      leave: () => {
        this.#isAlone = false;
      },
    });
  }

  #inFlight({ isSure, leave }: SharedSlot): SharedSlot {
    this.#inUse++;
    return {
      isSure,
      leave: () => {
        this.#inUse--;
        leave();
        this.#serve();
      },
    };
  }

  /** Asks the broker at once if this process has use for more places than at the last beat. */
  #askForMore(): void {
    if (this.#demand.at(this.#now()) > this.#wanted) this.#beats.ask();
  }

  #wake(): void {
    this.#isAwake = true;
    this.#standing.wake(this.#now());
    this.#options.board.join().catch(() => {}); // the library subscribes again
    this.#beats.ask();
  }

  async #beat(): Promise<"again" | "rest"> {
    const { slots } = this.#options;
    this.#demand.note(this.#inUse + this.#line.length, this.#now());
    this.#wanted = this.#demand.at(this.#now());
    try {
      const [look] = await Promise.all([this.#lookAround(), slots.renew()]);
      if (look) await this.#balance.adjust(look, this.#wanted);
      if (this.#wanted === 0) return await this.#rest();
    } catch {
      this.#standing.missed(this.#now()); // the next beat asks again
      this.#notices.absence(this.#standing.isGone);
    }
    this.#serve();
    return "again";
  }

  /** undefined in a quarantine, and while a request is under way that the broker knows nothing of: then no place is taken. */
  async #lookAround(): Promise<Look | undefined> {
    const { board } = this.#options;
    const asked = this.#now();
    const look = await board.look();
    this.#members = look.members;
    const isOwn = !look.hasForgotten && this.#standing.isQuarantineDue(look.quarantineLeft, this.#isAlone);
    if (look.hasForgotten) await board.quarantineAll();
    else if (isOwn) await board.quarantineOwn();
    const left = look.hasForgotten || isOwn ? leaseTime : look.quarantineLeft;
    this.#standing.answered(asked, left, isOwn);
    this.#notices.absence(this.#standing.isGone);
    this.#notices.quarantine(left > 0, this.#line.length > 0);
    return left > 0 || this.#isAlone ? undefined : look;
  }

  /** Nothing to send for a while: gives everything back, and asks nothing more. */
  async #rest(): Promise<"again" | "rest"> {
    if (this.#inUse + this.#line.length > 0) return "again";
    await this.#options.slots.giveAllBack();
    if (this.#line.length > 0) return "again";
    this.#isAwake = false;
    await this.#options.board.leave();
    return this.#isAwake ? "again" : "rest";
  }
}

interface NoticesOptions {
  /** The address of the broker, for messages. */
  readonly broker: string;
  readonly say: (text: string, level: "info" | "warn") => void;
}

/** Reports once when the broker is gone, when it is back, and why nothing is sent for some seconds. */
export class Notices {
  readonly #options: NoticesOptions;
  #hasSaidGone = false;
  #hasSaidQuarantine = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  absence(isGone: boolean): void {
    if (isGone === this.#hasSaidGone) return;
    this.#hasSaidGone = isGone;
    const { say, broker } = this.#options;
    if (isGone) say(`the broker ${broker} does not answer: one request in flight until it is back`, "warn");
    else say(`the broker ${broker} is back: requests are shared with the other processes again`, "info");
  }

  /** `isFelt`: a request waits. */
  quarantine(isQuarantine: boolean, isFelt: boolean): void {
    const isNews = isQuarantine && isFelt && !this.#hasSaidQuarantine;
    this.#hasSaidQuarantine = isQuarantine && (this.#hasSaidQuarantine || isNews);
    if (!isNews) return;
    const why = `the broker ${this.#options.broker} is new, was out of reach or has lost its data`;
    const wait = `no requests for up to ${leaseTime / 1_000} s`;
    this.#options.say(`${wait}: ${why}, so requests from before may still be under way`, "info");
  }
}

/** Requests that wait for something, in the order they came. */
class WaitingLine<T> {
  #waiting: ((value: T) => void)[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves once it is served. Rejects with the reason of the signal. */
  join(signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const serve = (value: T) => {
        signal.removeEventListener("abort", end);
        resolve(value);
      };
      const end = () => {
        this.#waiting = this.#waiting.filter((other) => other !== serve);
        reject(signal.reason);
      };
      signal.addEventListener("abort", end, { once: true });
      this.#waiting.push(serve);
    });
  }

  serve(value: T): void {
    this.#waiting.shift()?.(value);
  }
}

/** Milliseconds between two beats, and the least of them where there is something to do. */
const usual = 1_000;
const least = 20;

/** Does something about every second, and at once where that is asked for; never twice at the same time. */
class Beats {
  readonly #beat: () => Promise<"again" | "rest">;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #lastEnd = Number.NEGATIVE_INFINITY;
  #isAsked = false;
  #isEnded = false;

  /** `beat` says whether another one follows; it never rejects. */
  constructor(beat: () => Promise<"again" | "rest">) {
    this.#beat = beat;
  }

  /** Beats as soon as possible. */
  ask(): void {
    this.#isAsked = true;
    if (!this.#running) this.#plan(Math.max(0, this.#lastEnd + least - performance.now()));
  }

  /** Ends, once a beat under way is over. */
  async end(): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #plan(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (!this.#isEnded) this.#timer = setTimeout(() => this.#start(), milliseconds);
  }

  #start(): void {
    this.#isAsked = false;
    this.#running = this.#beat().then((next) => {
      this.#running = undefined;
      this.#lastEnd = performance.now();
      if (this.#isAsked) this.#plan(least);
      else if (next === "again") this.#plan(usual);
    });
  }
}
