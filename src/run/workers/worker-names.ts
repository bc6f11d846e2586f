import { countOf } from "../../words.js";

/** Says which workers come and go, and how much each has read. */
export class WorkerNames {
  readonly #say: (text: string) => void;
  readonly #read = new Map<string, number>();
  #present: ReadonlySet<string> = new Set();

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** The workers that are connected now. */
  see(names: readonly string[]): void {
    const present = new Set(names);
    for (const name of present) if (!this.#present.has(name)) this.#say(`worker ${name} is there`);
    for (const name of this.#present) if (!present.has(name)) this.#say(`worker ${name} is gone`);
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
