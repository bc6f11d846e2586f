import { SimulatedDisk } from "./disk.js";
import { streamOf } from "./draw/stream.js";
import type { Environment } from "./environment.js";
import { place } from "./files.js";
import { Life } from "./life.js";
import type { ProcessEnvironment } from "./read-all.js";

/** How a process ended. */
type End<T> =
  | { readonly kind: "through"; readonly result: T }
  | { readonly kind: "killed"; readonly powerCut: boolean }
  | { readonly kind: "error"; readonly error: unknown };

/** How often a process is restarted after it gave up. */
const patience = 2;
/** How many milliseconds after giving up a process is restarted at the latest. */
const usualGap = 60_000;
/** A process must end within this many milliseconds after a signal. */
const longestEnd = 5_000;

/** The processes of a simulation, which run one after another on the same disk. */
export class Processes {
  /** The number of processes so far. */
  lives = 0;
  /** The errors of processes that ended early, except killed ones. */
  readonly errors: unknown[] = [];
  readonly #environment: Environment;
  readonly #disk: SimulatedDisk;

  /** Replaces the real disk with the simulated one. */
  constructor(environment: Environment) {
    this.#environment = environment;
    this.#disk = new SimulatedDisk(environment.clock, streamOf(environment.scenario.seed, "disk"), environment.report);
    place.disk = this.#disk;
  }

  /**
   * Starts processes until one finishes the work, and returns its result; undefined if they give up. Calls `left` after every process
   * except the last.
   */
  async run<T>(
    work: (environment: ProcessEnvironment) => Promise<T>,
    left: (powerCut: boolean) => void = () => {},
  ): Promise<T | undefined> {
    const { interruptions } = this.#environment.scenario;
    for (let tries = 1; ; tries++) {
      const end = await this.#live(work);
      if (end.kind === "through") return end.result;
      if (tries > interruptions.length + patience) return undefined;
      left(end.kind === "killed" && end.powerCut);
      this.pause();
    }
  }

  /** Advances time until the next process starts. The data changes in between. */
  pause(): void {
    const { scenario, random, service, clock } = this.#environment;
    const { gap = random() * usualGap, edits = 1 } = scenario.interruptions[this.lives - 1] ?? {};
    service.moveOn(edits);
    clock.now += gap;
  }

  /** Flushes everything in a folder, so that it survives power cuts. */
  flush(folder: string): void {
    this.#disk.flush(folder);
  }

  async #live<T>(work: (environment: ProcessEnvironment) => Promise<T>): Promise<End<T>> {
    const { scenario, clock, report, violated } = this.#environment;
    const number = ++this.lives;
    const life = new Life(number, scenario.interruptions[number - 1], clock);
    this.#disk.life = life;
    const end = await this.#endOf(work, life);
    life.alive = false;
    this.#disk.closeAll(end.kind === "killed" && end.powerCut);
    report(`process ${number}: ${end.kind === "error" ? `error: ${end.error}` : end.kind}`);
    if (end.kind === "error") this.errors.push(end.error);
    if (clock.now - life.stoppedAt > longestEnd)
      violated(`it ended ${clock.now - life.stoppedAt} ms after it was told to`);
    return end;
  }

  /** Runs a process until it finishes, fails or is killed. */
  async #endOf<T>(work: (environment: ProcessEnvironment) => Promise<T>, life: Life): Promise<End<T>> {
    const ended = work({ ...this.#environment, life }).then((result): End<T> => ({ kind: "through", result }));
    const killed = life.killed.then((how): End<T> => ({ kind: "killed", powerCut: how === "power cut" }));
    return this.#environment.clock
      .until(Promise.race([ended, killed]))
      .catch((error: unknown): End<T> => ({ kind: "error", error }));
  }
}
