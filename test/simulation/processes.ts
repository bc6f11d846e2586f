import { SimulatedDisk } from "./disk.js";
import { streamOf } from "./draw/stream.js";
import type { Environment } from "./environment.js";
import { place } from "./files.js";
import { Life } from "./life.js";
import type { ProcessWorld } from "./read-all.js";

/** How one process ended. */
type End<T> =
  | { readonly kind: "through"; readonly result: T }
  | { readonly kind: "killed"; readonly powerCut: boolean }
  | { readonly kind: "error"; readonly error: unknown };

/** Times that somebody starts a process again after it gave up by itself. */
const patience = 2;
/** Milliseconds until then, at the most. */
const usualGap = 60_000;
/** Milliseconds within which a process ends that is told to. */
const longestEnd = 5_000;

/** The processes of a simulation, one after the other, on one disk. */
export class Processes {
  /** Processes that there were. */
  lives = 0;
  /** Why processes ended before they were through, those that were killed aside. */
  readonly errors: unknown[] = [];
  readonly #environment: Environment;
  readonly #disk: SimulatedDisk;

  /** Puts the disk in the place of the real one. */
  constructor(environment: Environment) {
    this.#environment = environment;
    this.#disk = new SimulatedDisk(environment.clock, streamOf(environment.scenario.seed, "disk"), environment.report);
    place.disk = this.#disk;
  }

  /**
   * Starts processes until one is through with the work, and gives its result; undefined when they give up. `left` is called
   * after every process that another one follows.
   */
  async run<T>(
    work: (environment: ProcessWorld) => Promise<T>,
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

  /** Lets time pass until somebody starts the next process; the data moves meanwhile. */
  pause(): void {
    const { scenario, random, service, clock } = this.#environment;
    const { gap = random() * usualGap, edits = 1 } = scenario.interruptions[this.lives - 1] ?? {};
    service.moveOn(edits);
    clock.now += gap;
  }

  /** Everything below a folder is flushed: no power cut takes any of it. */
  flush(folder: string): void {
    this.#disk.flush(folder);
  }

  async #live<T>(work: (environment: ProcessWorld) => Promise<T>): Promise<End<T>> {
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

  /** Lets a process live until it is through, ends with an error, or is killed. */
  async #endOf<T>(work: (environment: ProcessWorld) => Promise<T>, life: Life): Promise<End<T>> {
    const ended = work({ ...this.#environment, life }).then((result): End<T> => ({ kind: "through", result }));
    const killed = life.killed.then((how): End<T> => ({ kind: "killed", powerCut: how === "power cut" }));
    return this.#environment.clock
      .until(Promise.race([ended, killed]))
      .catch((error: unknown): End<T> => ({ kind: "error", error }));
  }
}
