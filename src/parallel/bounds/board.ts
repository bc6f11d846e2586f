import { createHash, randomUUID } from "node:crypto";
import { longestRetryAfter } from "../../client/send.js";
import type { Broker } from "../broker.js";

type Connection = ReturnType<Broker["connect"]>;

/** Milliseconds for which the board shows a lack; who has it says so again about every second. */
const lackTime = 2_500;
/** Seconds for which a run of the server is known: 30 days. */
const epochTime = 2_592_000;

/** The knowledge that all processes of a service share, at one moment of the broker. */
export interface Look {
  /** Whether the broker has restarted, or forgot everything, since a process looked last. */
  readonly hasForgotten: boolean;
  /** Milliseconds for which no place may be taken; 0: places may be taken. */
  readonly quarantineLeft: number;
  /** Whether a process has too few places. */
  readonly isLack: boolean;
  /** Processes that have use for places, this one included. */
  readonly members: number;
}

interface BoardOptions {
  readonly commands: Connection;
  readonly messages: Connection;
  readonly keys: Keys;
  /** Called when there may be places to take or to give back. */
  readonly onChange: () => void;
  /** Called once for every pause of another process, with the milliseconds that are left of it. */
  readonly onPause: (milliseconds: number) => void;
}

/** The board at the broker on which the processes of a service announce what concerns all of them. */
export class Board {
  readonly #options: BoardOptions;
  readonly #id = randomUUID();
  #serverRun = "";
  #pauses = 0;
  #lastPause: string | undefined;

  constructor(options: BoardOptions) {
    this.#options = options;
    options.messages.on("message", (_channel: string, message: string) => this.#hear(message));
  }

  /** Counts this process among those that have use for places, and hears the others. */
  async join(): Promise<void> {
    await this.#options.messages.subscribe(this.#options.keys.channel);
  }

  async leave(): Promise<void> {
    await this.#options.messages.unsubscribe(this.#options.keys.channel);
  }

  /** Rejects where the broker does not answer. */
  async look(): Promise<Look> {
    const { commands, keys } = this.#options;
    const known = this.#serverRun;
    // One transaction: whatever it finds, this run of the server said it.
    const results = await commands
      .multi()
      .info("server")
      .mget(keys.epoch(known), keys.lack, keys.pause)
      .pttl(keys.pause)
      .pttl(keys.quarantine)
      .pttl(keys.ownQuarantine)
      .pubsub("NUMSUB", keys.channel)
      .exec();
    if (!results) throw new Error("the broker took no transaction");
    const [info, values, pauseLeft, quarantineLeft, ownQuarantineLeft, members] = results.map(([error, value]) => {
      if (error) throw error;
      return value;
    });
    const [epoch, lack, pause] = Array.isArray(values) ? values : [];
    this.#serverRun = /^run_id:(\w+)/m.exec(String(info))?.[1] ?? "";
    if (this.#serverRun !== known) return this.look();
    if (typeof pause === "string") this.#meetPause(pause, Number(pauseLeft));
    return {
      hasForgotten: epoch === null,
      quarantineLeft: Math.max(0, Number(quarantineLeft), Number(ownQuarantineLeft)),
      isLack: lack !== null,
      members: Math.max(1, Array.isArray(members) ? Number(members[1]) : 1),
    };
  }

  /**
   * Blocks all places for the time of a lease: until then, a process with one that the broker forgot has lost it. One transaction: who
   * finds the epoch finds the quarantine, also where the broker forgets everything once more.
   */
  async quarantineAll(): Promise<void> {
    const { commands, keys } = this.#options;
    await commands
      .multi()
      .set(keys.quarantine, this.#id, "PX", leaseTime)
      .set(keys.epoch(this.#serverRun), this.#id, "EX", epochTime, "NX")
      .exec();
  }

  /** The same for the processes of this service. */
  async quarantineOwn(): Promise<void> {
    await this.#options.commands.set(this.#options.keys.ownQuarantine, this.#id, "PX", leaseTime);
  }

  /** Says that a process has too few places. */
  async announceLack(): Promise<void> {
    await this.#options.commands.set(this.#options.keys.lack, this.#id, "PX", lackTime);
  }

  /** Takes the lack off the board. Whether this process did so, and no other one. */
  async takeLack(): Promise<boolean> {
    return (await this.#options.commands.del(this.#options.keys.lack)) === 1;
  }

  /** Lets the others look at once whether there are places to take or to give back. */
  async announceChange(): Promise<void> {
    await this.#options.commands.publish(this.#options.keys.channel, `change ${this.#id}`);
  }

  /** Lets all others pause, and those that come later. */
  async announcePause(milliseconds: number): Promise<void> {
    const { commands, keys } = this.#options;
    const name = `${this.#id}:${++this.#pauses}`;
    const rounded = Math.ceil(milliseconds);
    await Promise.all([
      commands.publish(keys.channel, `pause ${name} ${rounded}`),
      commands.set(keys.pause, name, "PX", rounded),
    ]);
  }

  #hear(message: string): void {
    const [kind, name = "", milliseconds] = message.split(" ");
    if (kind === "change" && name !== this.#id) this.#options.onChange();
    if (kind === "pause") this.#meetPause(name, Number(milliseconds));
  }

  #meetPause(name: string, left: number): void {
    if (name === this.#lastPause || name.startsWith(this.#id) || !(left > 0)) return;
    this.#lastPause = name;
    this.#options.onPause(Math.min(left, longestRetryAfter));
  }
}

/**
 * The keys at the broker. Those of all services say whether it forgot something; the others belong to one service, which they name by a
 * hash, so that the broker learns no URL.
 */
export interface Keys {
  /** There since a process saw this run of the server; not there once the server has forgotten everything. */
  readonly epoch: (serverRun: string) => string;
  /** While one of these is there, no place is taken. */
  readonly quarantine: string;
  readonly ownQuarantine: string;
  /** Each place has a number. */
  readonly slot: (number: number) => string;
  /** There while a process has too few places. */
  readonly lack: string;
  /** There while everybody pauses. */
  readonly pause: string;
  /** The channel of all processes that have use for places. */
  readonly channel: string;
}

export function keysOf(service: string): Keys {
  const own = `kbdump:${createHash("sha256").update(service).digest("hex").slice(0, 32)}`;
  return {
    epoch: (serverRun) => `kbdump:epoch:${serverRun}`,
    quarantine: "kbdump:quarantine",
    ownQuarantine: `${own}:quarantine`,
    slot: (number) => `${own}:place:${number}`,
    lack: `${own}:lack`,
    pause: `${own}:pause`,
    channel: `${own}:channel`,
  };
}

/** Milliseconds for which the broker keeps a place after it was taken or renewed. */
export const leaseTime = 5_000;
/** Milliseconds before its end from which on a lease is not used any more. */
const margin = 500;

/**
 * A moment on both clocks of this machine: the steady one stands still while the machine sleeps, the other one can be set. Neither is
 * ever compared with the clock of another machine.
 */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export type Clock = () => Moment;

export const realClock: Clock = () => ({ steady: performance.now(), wall: Date.now() });

/**
 * Whether a place that was taken or renewed is certainly still ours. `asked`: the moment right before the request to the broker was sent, so
 * that the broker keeps the place for longer than this says.
 */
export function isSure(asked: Moment, now: Moment): boolean {
  const time = leaseTime - margin;
  return now.steady - asked.steady < time && now.wall - asked.wall < time;
}
