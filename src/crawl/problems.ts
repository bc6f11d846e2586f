import { shortened } from "../errors.js";

/** Problems that a checkpoint remembers. */
const remembered = 5;

/**
 * The meaning of a problem. moved: the list was changed, or its pages contradict each other. grew: its total rose, and nothing
 * else is known to be wrong. unreadable: the service cannot render some of its rows, and reading again is no remedy.
 */
export type ProblemKind = "moved" | "grew" | "unreadable";

/** Is told of everything that shows that a list is not whole; it may throw to end the reading. */
export type TellProblem = (text: string, kind?: ProblemKind) => void;

/** The first problems of a reading, as a checkpoint remembers them. */
export interface ProblemsSoFar {
  readonly problems: readonly string[];
  /** A sentence for each of the first rows that the service cannot render. */
  readonly unreadable: readonly string[];
}

/** Passes problems on and remembers the first of each kind, those of an earlier crawl before all others. */
export class Problems {
  readonly #problems: string[] = [];
  readonly #unreadable: string[] = [];
  readonly #problem: TellProblem;

  /** `problem` is told of each; it may throw. */
  constructor(problem: TellProblem, earlier?: ProblemsSoFar) {
    this.#problem = problem;
    for (const text of earlier?.unreadable ?? []) this.tell(text, "unreadable");
    for (const text of earlier?.problems ?? []) this.tell(text);
  }

  readonly tell: TellProblem = (problem, kind) => {
    const text = shortened(problem); // it can name an id of any length
    const list = kind === "unreadable" ? this.#unreadable : this.#problems;
    if (list.length < remembered) list.push(text);
    this.#problem(text, kind);
  };

  get first(): ProblemsSoFar {
    return { problems: [...this.#problems], unreadable: [...this.#unreadable] };
  }
}
