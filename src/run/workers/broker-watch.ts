import type { Broker } from "../../broker/open-broker.js";
import { problemText } from "../../file-error.js";
import type { Log } from "../../log.js";

/** Errors of ioredis that say no more than that there is no answer. */
const silence = /^(Command timed out|Stream isn't writeable|Connection is closed)/;

/** Asks the broker, and tells once when it is gone and when it is back. */
export class BrokerWatch {
  readonly #broker: Pick<Broker, "shown">;
  readonly #log: Log;
  #isGone = false;

  constructor(broker: Pick<Broker, "shown">, log: Log) {
    this.#broker = broker;
    this.#log = log;
  }

  /** Whether the broker did what it was asked for. It is asked again at the next turn, so nothing is thrown. */
  async ask(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      if (this.#isGone) this.#log("info", `the broker ${this.#broker.shown} is back: documents are handed out again`);
      this.#isGone = false;
    } catch (error) {
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
