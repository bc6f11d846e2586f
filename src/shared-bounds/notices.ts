import { leaseTime } from "./lease.js";

export interface NoticesOptions {
  /** The address of the broker, for messages. */
  readonly broker: string;
  readonly say: (text: string, level: "info" | "warn") => void;
}

/** Tells once when the broker is gone, when it is back, and why nothing is sent for some seconds. */
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
