import { AsyncLocalStorage } from "node:async_hooks";
import { fs } from "./real-fs.js";

/** A process of the simulation: its steps are file operations, and only the schedule lets them happen. */
export class SimulatedProcess {
  readonly number: number;
  readonly host: string;
  /** Operations that wait for their turn. */
  readonly waiting: (() => void)[] = [];
  frozen = false;
  killed = false;
  ended = false;
  steps = 0;
  /** Its messages to the user. */
  readonly messages: string[] = [];
  readonly #open = new Set<number>();

  constructor(number: number, host: string) {
    this.number = number;
    this.host = host;
  }

  get canStep(): boolean {
    return !this.frozen && !this.killed && this.waiting.length > 0;
  }

  /** Waits until one operation may happen. A killed process waits forever. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Lets one operation happen. */
  step(which: number): void {
    this.steps++;
    const [go] = this.waiting.splice(which % this.waiting.length, 1);
    go?.();
  }

  opened(file: number): number {
    this.#open.add(file);
    return file;
  }

  close(file: number): void {
    if (this.#open.delete(file)) fs.closeSync(file);
  }

  /** Closes the open files, as the kernel does at the end of a process. */
  closeAll(): void {
    for (const file of this.#open) fs.closeSync(file);
    this.#open.clear();
  }
}

/** The process that the code at work belongs to. */
export const current = new AsyncLocalStorage<SimulatedProcess>();
