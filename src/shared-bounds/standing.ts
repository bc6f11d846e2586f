import { leaseTime } from "./lease.js";

/**
 * Milliseconds without an answer of the broker after which a process goes on alone. The last leases of all others that lost it at the same time have run out
 * by then, and so have the requests that were sent under them, unless they take long.
 */
const patience = leaseTime + 2_000;
/** Requests to the broker in vain that make sure of it: a process that was frozen finds one of them too late. */
const enough = 3;
/** A quarantine is over in one lease; where the broker loses its memory again and again, nobody waits for longer than this. */
const longestQuarantine = 3 * leaseTime;

/**
 * How a process stands with the others. `joined`: it may take places. `waiting`: it uses those that are surely its own, and takes no more.
 * `alone`: it cannot know what the others do, and has one request in flight. Pure: times are milliseconds.
 */
export class Standing {
  #answeredAt: number;
  #misses = 0;
  #quarantinedSince: number | undefined;
  #state: "joined" | "waiting" | "alone" = "joined";
  #wasAlone = false;

  constructor(now: number) {
    this.#answeredAt = now;
  }

  get state(): "joined" | "waiting" | "alone" {
    return this.#state;
  }

  /** Whether a request was sent alone: then a quarantine is due before this process takes places again. */
  get wasAlone(): boolean {
    return this.#wasAlone;
  }

  /** Whether the broker has not answered for so long that nobody can be joined. */
  get isGone(): boolean {
    return this.#misses >= enough && this.#state === "alone";
  }

  /** The process begins to want places again: that it did not ask the broker before means nothing. */
  wake(now: number): void {
    this.#answeredAt = now;
    this.#misses = 0;
    this.#quarantinedSince = undefined;
    this.#state = "joined";
  }

  answered(now: number, isQuarantine: boolean): void {
    this.#answeredAt = now;
    this.#misses = 0;
    this.#quarantinedSince = isQuarantine ? (this.#quarantinedSince ?? now) : undefined;
    const isLong = now - (this.#quarantinedSince ?? now) >= longestQuarantine;
    this.#state = isLong ? "alone" : isQuarantine ? "waiting" : "joined";
    if (isQuarantine) this.#wasAlone = false;
  }

  /** The broker did not answer. */
  missed(now: number): void {
    this.#misses++;
    if (this.#misses >= enough && now - this.#answeredAt >= patience) this.#state = "alone";
  }

  wentAlone(): void {
    this.#wasAlone = true;
  }
}
