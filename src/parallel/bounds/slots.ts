import { randomUUID } from "node:crypto";
import type { Broker } from "../broker.js";
import { type Clock, isSure, type Keys, leaseTime, type Moment } from "./board.js";

/** A place that this process has taken. */
export interface Slot {
  readonly number: number;
  /** Tells this taking from every other one. */
  readonly identifier: string;
  /** When the broker was asked for it last, and granted it. */
  asked: Moment;
  isUsed: boolean;
}

interface SlotsOptions {
  readonly concurrency: number;
  readonly keys: Keys;
  readonly commands: ReturnType<Broker["connect"]>;
  readonly Mutex: Broker["libraries"]["Mutex"];
  readonly clock: Clock;
}

/** A call to the library may wait for nothing: one request to the broker, one answer. */
const once = { lockTimeout: leaseTime, refreshInterval: 0, acquireAttemptsLimit: 1, retryInterval: 0 };

/**
 * The places of a service that this process holds. Each is a lock at the broker, which runs out where it is not renewed. Known limit: a request that the
 * service works at for longer than a lease, sent by a process that was killed or cut off from the broker meanwhile, counts no more.
 */
export class Slots {
  readonly #options: SlotsOptions;
  #held: Slot[] = [];

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** Those that are surely ours at this moment. */
  get sure(): readonly Slot[] {
    return this.#held.filter((slot) => this.isSure(slot));
  }

  get count(): number {
    return this.#held.length;
  }

  isSure(slot: Slot): boolean {
    return this.#held.includes(slot) && isSure(slot.asked, this.#options.clock());
  }

  /** A place that is surely ours and in which no request is: the one that was taken first. */
  get idle(): Slot | undefined {
    return this.#held.find((slot) => !slot.isUsed && this.isSure(slot));
  }

  /** Renews all, and forgets those that are not ours any more. Where the broker does not answer, they are ours until they run out. */
  async renew(): Promise<void> {
    await Promise.allSettled(
      this.#held.map(async (slot) => {
        const asked = this.#options.clock();
        if (await this.#lockOf(slot).tryAcquire()) slot.asked = asked;
        else this.#forget([slot]);
      }),
    );
  }

  /** Takes so many of those that are free. They are not used before `keep`. */
  async take(most: number): Promise<readonly Slot[]> {
    const held = new Set(this.#held.map(({ number }) => number));
    const free = numbersFrom(this.#options.concurrency).filter((number) => !held.has(number));
    const taken: Slot[] = [];
    while (taken.length < most && free.length > 0) {
      const tried = free.splice(0, most - taken.length);
      const slots = await Promise.all(tried.map((number) => this.#tryToTake(number)));
      taken.push(...slots.filter((slot) => slot !== undefined));
    }
    return taken;
  }

  keep(slots: readonly Slot[]): void {
    this.#held.push(...slots);
  }

  /** Gives places back. Where the broker does not answer, they run out. */
  async giveBack(slots: readonly Slot[]): Promise<void> {
    this.#forget(slots);
    await Promise.allSettled(slots.map((slot) => this.#lockOf(slot).release()));
  }

  /** Gives all back. */
  giveAllBack(): Promise<void> {
    return this.giveBack([...this.#held]);
  }

  /** The last so many in which no request is. */
  lastIdle(most: number): readonly Slot[] {
    return most > 0 ? this.#held.filter(({ isUsed }) => !isUsed).slice(-most) : [];
  }

  #forget(slots: readonly Slot[]): void {
    this.#held = this.#held.filter((slot) => !slots.includes(slot));
  }

  async #tryToTake(number: number): Promise<Slot | undefined> {
    const { commands, keys, clock, Mutex } = this.#options;
    const identifier = randomUUID();
    const asked = clock();
    const isTaken = await new Mutex(commands, keys.slot(number), { ...once, identifier }).tryAcquire();
    return isTaken ? { number, identifier, asked, isUsed: false } : undefined;
  }

  /** The lock of a place that is ours already: to acquire it is to renew it. */
  #lockOf({ number, identifier }: Slot) {
    const { commands, keys, Mutex } = this.#options;
    return new Mutex(commands, keys.slot(number), { ...once, identifier, acquiredExternally: true });
  }
}

/** The numbers of all places, beginning with any of them, so that processes seldom try the same ones. */
function numbersFrom(concurrency: number): number[] {
  const first = Math.floor(Math.random() * concurrency);
  return Array.from({ length: concurrency }, (_, index) => (first + index) % concurrency);
}
