/** Milliseconds for which workers are waited for, also where an outage of the service ends a run at once. */
const leastPatience = 10_000;

/** Milliseconds without a sign of life of any worker after which a run goes on by itself. */
export function patienceOf({ service }: { readonly service: { readonly outage: number } }): number {
  return Math.max(leastPatience, service.outage * 1_000);
}

/** Milliseconds without a sign of life after which the user hears of it. */
const silence = 20_000;

/** The signs of life of all workers together. Pure: time is an argument. */
export class SignsOfLife {
  readonly #patience: number;
  #last: number;
  #isSilenceTold = false;

  /** `patience`: milliseconds after which nobody is waited for any more. */
  constructor(patience: number, now: number) {
    this.#patience = patience;
    this.#last = now;
  }

  /** A worker has read something. */
  sign(now: number): void {
    this.#last = now;
    this.#isSilenceTold = false;
  }

  /** over: nobody is waited for any more · silent: the user is to hear of it, once · heard: all is well, or was told. */
  look(now: number): "heard" | "silent" | "over" {
    const silent = now - this.#last;
    if (silent >= this.#patience) return "over";
    if (silent < silence || this.#isSilenceTold) return "heard";
    this.#isSilenceTold = true;
    return "silent";
  }
}
