import { AsyncLocalStorage } from "node:async_hooks";
import { fs } from "./real-fs.js";

/** A simulated process. Its steps are file operations, which wait for the schedule. */
export class SimulatedProcess {
  readonly number: number;
  readonly host: string;
  /** Operations that wait for the schedule. */
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

  /** Waits until the schedule allows an operation. A killed process waits forever. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Allows the waiting operation with this number. */
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

  /** Closes the open files, as the kernel does when a process ends. */
  closeAll(): void {
    for (const file of this.#open) fs.closeSync(file);
    this.#open.clear();
  }
}

/** The process that runs the current code. */
export const current = new AsyncLocalStorage<SimulatedProcess>();
