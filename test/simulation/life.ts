import { InterruptedError } from "../../src/errors.js";
import type { Waiting } from "./clock.js";
import type { Interruption } from "./scenario.js";

/** One process of the program, from its start until it ends or is killed. */
export class Life implements Waiting {
  alive = true;
  /** Whether the disk is full; once full, it stays full. */
  diskIsFull = false;
  readonly number: number;
  /** Settles when the process is killed, with the way it was killed. */
  readonly killed: Promise<"kill" | "power cut">;
  readonly signal: AbortSignal;
  /** When the process received a signal to stop, on the simulated clock. */
  stoppedAt = Number.POSITIVE_INFINITY;
  readonly #clock: { readonly now: number };
  readonly #interruption: Interruption | undefined;
  readonly #abort = new AbortController();
  #die: (how: "kill" | "power cut") => void = () => {};
  #steps = 0;

  constructor(number: number, interruption: Interruption | undefined, clock: { readonly now: number }) {
    this.#clock = clock;
    this.number = number;
    this.#interruption = interruption;
    this.signal = this.#abort.signal;
    this.killed = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  /** Counts a step of the process. Returns false if the process was killed and must do nothing more. */
  step(): boolean {
    if (!this.alive) return false;
    this.#steps++;
    if (this.#steps !== this.#interruption?.after) return true;
    const { kind } = this.#interruption;
    if (kind === "disk full") this.diskIsFull = true;
    else if (kind === "signal") {
      this.stoppedAt = this.#clock.now;
      this.#abort.abort(new InterruptedError("SIGINT"));
    } else {
      this.alive = false;
      this.#die(kind);
    }
    return this.alive;
  }
}

/** A promise that never settles, for a dead process to wait on. */
export function forever(): Promise<never> {
  return new Promise(() => {});
}
