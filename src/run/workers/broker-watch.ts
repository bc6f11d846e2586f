import type { Broker } from "../../broker/open-broker.js";
import { problemText } from "../../file-error.js";
import type { Log } from "../../log.js";
import { inTime } from "./at-most.js";

/** Milliseconds after which a broker counts as gone: the library waits for good where there never was a connection. */
const longestAnswer = 6_000;

/** Errors that say no more than that there is no answer. */
const silence = /^(no answer|Command timed out|Stream isn't writeable|Connection is closed)/;

/** Asks the broker, and tells once when it is gone and when it is back. */
export class BrokerWatch {
  readonly #broker: Pick<Broker, "shown">;
  readonly #log: Log;
  readonly #signal: AbortSignal;
  #isGone = false;

  /** `signal` ends every wait. */
  constructor(broker: Pick<Broker, "shown">, log: Log, signal: AbortSignal) {
    this.#broker = broker;
    this.#log = log;
    this.#signal = signal;
  }

  /** Whether the broker did what it was asked for. It is asked again at the next turn, so nothing is thrown. */
  async ask(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await inTime(work(), longestAnswer, this.#signal);
      if (this.#isGone) this.#log("info", `the broker ${this.#broker.shown} is back: documents are handed out again`);
      this.#isGone = false;
    } catch (error) {
      if (this.#signal.aborted) return false;
      if (!this.#isGone) this.#log("warn", this.#problemOf(error));
      this.#isGone = true;
    }
    return !this.#isGone;
  }

  #problemOf(error: unknown): string {
    const text = problemText(error);
    const reason = silence.test(text) ? "does not answer" : `refuses a command (${text})`;
    return `the broker ${this.#broker.shown} ${reason}: workers finish the documents that they have, and get no more until it is back`;
  }
}
