/** A clock on which waits take no time: each wait moves it forward at once. */
export class JumpingClock {
  #now: number;
  /** The length of each wait so far, in milliseconds. */
  readonly waits: number[] = [];

  constructor(now = 0) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;

  readonly sleep = async (milliseconds: number): Promise<void> => {
    this.waits.push(milliseconds);
    this.#now += milliseconds;
  };
}
