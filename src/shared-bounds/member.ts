import type { SharedPlace } from "../client/shared-bounds.js";
import { Balance } from "./balance.js";
import { Beats } from "./beats.js";
import type { Board, Look } from "./board.js";
import { Demand } from "./demand.js";
import { type Clock, leaseTime } from "./lease.js";
import { Notices, type NoticesOptions } from "./notices.js";
import type { Place, Places } from "./places.js";
import { shareOf } from "./share-out.js";
import { Standing } from "./standing.js";
import { WaitingLine } from "./waiting-line.js";

export interface MemberOptions extends NoticesOptions {
  readonly concurrency: number;
  readonly maxRps: number;
  /** Requests of this process at the most. */
  readonly most: number;
  readonly places: Places;
  readonly board: Board;
  readonly clock: Clock;
}

/** One of the processes that share the places of a service. It asks the broker about every second, and not at all while it has no requests. */
export class Member {
  readonly #options: MemberOptions;
  readonly #line = new WaitingLine<SharedPlace>();
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
    const { places, board, concurrency } = options;
    const mayTake = async () => (await this.#lookAround()) !== undefined;
    this.#balance = new Balance({ places, board, concurrency, mayTake, now: () => this.#now() });
  }

  enter(signal: AbortSignal): Promise<SharedPlace> {
    const place = this.#line.join(signal);
    if (!this.#isAwake) this.#wake();
    this.#demand.note(this.#inUse + this.#line.length, this.#now());
    this.#serve();
    if (this.#line.length > 0) this.#askForMore();
    return place;
  }

  rate(): number {
    const { maxRps, concurrency, places } = this.#options;
    if (maxRps === Number.POSITIVE_INFINITY) return maxRps;
    const held = places.sure.length;
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
    await this.#options.places.giveAllBack();
  }

  #now(): number {
    return this.#options.clock().steady;
  }

  #serve(): void {
    const { places, most } = this.#options;
    while (this.#line.length > 0 && this.#inUse < most) {
      const place = places.idle;
      if (!place) break;
      this.#line.serve(this.#use(place));
    }
    const isFree = this.#line.length > 0 && !this.#isAlone && places.sure.length === 0;
    if (isFree && this.#standing.isAlone(this.#now())) this.#line.serve(this.#goAlone());
  }

  #use(place: Place): SharedPlace {
    place.isUsed = true;
    return this.#inFlight({
      isSure: () => this.#options.places.isSure(place),
      leave: () => {
        place.isUsed = false;
        this.#balance.left(place);
      },
    });
  }

  /** A place that the broker knows nothing of. */
  #goAlone(): SharedPlace {
    this.#isAlone = true;
    return this.#inFlight({
      isSure: () => this.#standing.isAlone(this.#now()),
      leave: () => {
        this.#isAlone = false;
      },
    });
  }

  #inFlight({ isSure, leave }: SharedPlace): SharedPlace {
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
    const { places } = this.#options;
    this.#demand.note(this.#inUse + this.#line.length, this.#now());
    this.#wanted = this.#demand.at(this.#now());
    try {
      const [look] = await Promise.all([this.#lookAround(), places.renew()]);
      if (look) await this.#balance.adjust(look, this.#wanted);
      if (this.#wanted === 0) return await this.#rest();
    } catch {
      this.#standing.missed(this.#now()); // the next beat asks again
      this.#notices.absence(this.#standing.isGone);
    }
    this.#serve();
    return "again";
  }

  /** undefined in a quarantine, and while a request is under way that the broker knows nothing of: then nobody takes a place. */
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
    await this.#options.places.giveAllBack();
    if (this.#line.length > 0) return "again";
    this.#isAwake = false;
    await this.#options.board.leave();
    return this.#isAwake ? "again" : "rest";
  }
}
