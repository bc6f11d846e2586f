import { countOf } from "../../words.js";

/** The way to start a worker for this run, as messages name it. */
export function howToStart(broker: string): string {
  return `start one with kbdump worker ${broker} and the job file of this run`;
}

/** Says which workers come and go, how to start one where there is none, and how much each has read. */
export class WorkerNames {
  readonly #say: (text: string) => void;
  readonly #howToStart: string;
  readonly #read = new Map<string, number>();
  #present: ReadonlySet<string> | undefined;

  constructor(say: (text: string) => void, howToStart: string) {
    this.#say = say;
    this.#howToStart = howToStart;
  }

  /** The workers that are connected now. */
  see(names: readonly string[]): void {
    const before = this.#present ?? new Set();
    const present = new Set(names);
    for (const name of present) if (!before.has(name)) this.#say(`worker ${name} joined`);
    for (const name of before) if (!present.has(name)) this.#say(`worker ${name} left`);
    const isNew = this.#present === undefined || before.size > 0;
    if (present.size === 0 && isNew) this.#say(`no worker is connected: ${this.#howToStart}`);
    this.#present = present;
  }

  /** A worker has read a document whole. */
  read(name: string): void {
    this.#read.set(name, (this.#read.get(name) ?? 0) + 1);
  }

  /** Says how much each worker has read. */
  tellAll(): void {
    const each = [...this.#read].sort(([one], [other]) => (one < other ? -1 : 1));
    if (each.length === 0) return;
    this.#say(`workers have read: ${each.map(([name, read]) => `${name} ${countOf(read, "document")}`).join(", ")}`);
  }
}
