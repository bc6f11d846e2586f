/** Requests that may still be spent on knowing more. */
export class Budget {
  #left: number;

  constructor(requests: number) {
    this.#left = requests;
  }

  get isBounded(): boolean {
    return this.#left !== Number.POSITIVE_INFINITY;
  }

  /** Sets a share of what is left aside, to be spent on its own. */
  part(share: number): Budget {
    const requests = Math.floor(this.#left * share);
    this.#left -= requests;
    return new Budget(requests);
  }

  /** Takes so many, or nothing and gives false. */
  take(requests: number): boolean {
    if (requests > this.#left) return false;
    this.#left -= requests;
    return true;
  }
}
