import { shortened } from "../errors.js";

/** Problems that a checkpoint remembers. */
const remembered = 5;

/** Passes problems on and remembers the first of them, those of an earlier crawl before all others. */
export class Problems {
  readonly #first: string[] = [];
  readonly #problem: (text: string) => void;

  /** `problem` is told of each; it may throw. */
  constructor(problem: (text: string) => void, earlier: readonly string[] = []) {
    this.#problem = problem;
    for (const text of earlier) this.tell(text);
  }

  readonly tell = (problem: string): void => {
    const text = shortened(problem); // it can name an id of any length
    if (this.#first.length < remembered) this.#first.push(text);
    this.#problem(text);
  };

  get first(): readonly string[] {
    return [...this.#first];
  }
}
