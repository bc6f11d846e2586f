import type { ProblemKind, ReportProblem } from "./read-list.js";

/** Times that something is read before it is taken as it is. */
const attempts = 3;

/** Something changed while it was read, and is read again. */
export class MovedError extends Error {
  readonly kind: ProblemKind;

  constructor(text: string, kind: ProblemKind) {
    super(text);
    this.kind = kind;
  }
}

/** The flaws of one attempt. Ends the attempt with a MovedError where another one may find none. */
export class Flaws {
  readonly #isLast: boolean;
  readonly #most: number;
  readonly #texts = new Set<string>();
  #more = 0;
  #moved = false;

  /** `isLast`: what is read is taken as it is. `most`: flaws that are named. */
  constructor(isLast: boolean, most: number) {
    this.#isLast = isLast;
    this.#most = most;
  }

  readonly report: ReportProblem = (text, kind = "moved") => {
    if (!this.#isLast && kind !== "unreadable") throw new MovedError(text, kind);
    this.#moved ||= kind !== "unreadable";
    if (this.#texts.has(text)) return;
    if (this.#texts.size < this.#most) this.#texts.add(text);
    else this.#more++;
  };

  /** Each once, in the order in which they were reported. */
  get texts(): readonly string[] {
    return [...this.#texts, ...(this.#more > 0 ? [`and ${this.#more} more`] : [])];
  }

  /** Whether what was read moved this time, too; other flaws are rows that cannot be read. */
  get moved(): boolean {
    return this.#moved;
  }
}

/**
 * Reads something until it holds still, three times in all, and takes the last attempt as it is. `read` reports to `flaws`
 * everything that is wrong. `first` is the number of the attempt to begin with, `most` how many flaws are named.
 */
export async function readUntilStill<T>(
  read: (flaws: Flaws) => Promise<T>,
  { first = 1, most = Number.POSITIVE_INFINITY } = {},
): Promise<T> {
  for (let number = first; ; number++) {
    try {
      return await read(new Flaws(number >= attempts, most));
    } catch (error) {
      if (!(error instanceof MovedError)) throw error;
    }
  }
}
