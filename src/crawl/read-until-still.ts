import type { ProblemKind, ReportProblem } from "./read-list.js";

/** Maximum reads of something that keeps changing. The result of the last one is accepted with its flaws. */
const attempts = 3;

/** Something changed during the read and must be read again. */
export class MovedError extends Error {
  readonly kind: ProblemKind;

  constructor(text: string, kind: ProblemKind) {
    super(text);
    this.kind = kind;
  }
}

/** The flaws of one attempt. Throws MovedError to end the attempt if another attempt may succeed. */
export class Flaws {
  readonly #isLast: boolean;
  readonly #most: number;
  readonly #texts = new Set<string>();
  #more = 0;
  #moved = false;

  /** `isLast`: accept the result with any flaws. `most`: how many flaws to list. */
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

  /** Each flaw once, in the order reported. */
  get texts(): readonly string[] {
    return [...this.#texts, ...(this.#more > 0 ? [`and ${this.#more} more`] : [])];
  }

  /** Whether the source changed during this read; other flaws are rows that cannot be read. */
  get moved(): boolean {
    return this.#moved;
  }
}

/**
 * Reads something until it stops changing, at most three times, and accepts the last attempt with its flaws. `read` reports flaws
 * to `flaws`. `first` is the number of the first attempt, `most` the number of flaws to list.
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
