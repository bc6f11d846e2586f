import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job } from "../../../src/job/job.js";
import { integer, type Random } from "../../servers/random.js";
import { judgeEnd } from "./judge.js";
import { current, SimulatedProcess } from "./process.js";
import { type RunSabotage, runOnce, type Said } from "./run-once.js";

/** How a process ended. */
export interface Ended {
  readonly process: SimulatedProcess;
  readonly said?: Said;
  readonly error?: unknown;
}

/** The result of playing a schedule. */
export interface PlayedHolders {
  /** Broken promises; empty if all were kept. */
  readonly wrong: readonly string[];
  readonly trace: readonly string[];
  /** The names of the cases that occurred, to see that schedules cover them. */
  readonly met: ReadonlySet<string>;
}

const memory = fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const mostProcesses = 4;
/** No schedule takes this many steps. */
const mostSteps = 20_000;

/** Plays a schedule of processes that own a job one after another, or believe that they do, and judges the result. */
export async function playHolders(random: Random, sabotage: RunSabotage = {}): Promise<PlayedHolders> {
  const folder = fs.mkdtempSync(join(memory, "kbdump-holders-"));
  try {
    const schedule = new Schedule(folder, random, sabotage);
    await schedule.play();
    return { wrong: judgeEnd(schedule), trace: schedule.trace, met: schedule.met };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** A job with only the settings that locking, resuming and publishing need. */
function jobIn(dir: string): Job {
  const output = { dir, formats: ["jsonl", "duckdb"], memory: "500MB", keepSignatures: false };
  const rest = { service: { demo: true }, datasets: [], childChunks: "none", consistency: "counts", resumeWithin: 24 };
  return { name: "job", output, ...rest } as unknown as Job;
}

/** Draws which process does the next step, is frozen, woken or killed, and when the lock is lost. */
export class Schedule {
  readonly place: string;
  readonly trace: string[] = [];
  readonly met = new Set<string>();
  readonly ended: Ended[] = [];
  /** Snapshots of `kbdump status` that wait for the next run. */
  readonly readings: string[] = [];
  /** Published file → its bytes when first seen. */
  readonly published = new Map<string, string>();
  readonly #processes: SimulatedProcess[] = [];
  readonly #random: Random;
  readonly #sabotage: RunSabotage;
  readonly #job: Job;

  constructor(folder: string, random: Random, sabotage: RunSabotage) {
    this.place = join(folder, "out", "job");
    this.#random = random;
    this.#sabotage = sabotage;
    this.#job = jobIn(join(folder, "out"));
  }

  async play(): Promise<void> {
    fs.mkdirSync(join(this.place, ".work", "indexing_status"), { recursive: true });
    this.#leaveReading();
    this.#start();
    for (let step = 0; step < mostSteps && !this.#isOver(); step++) {
      await this.#disturbPerhaps();
      const able = this.#processes.filter(({ canStep }) => canStep);
      const process = able[integer(this.#random, 0, Math.max(0, able.length - 1))];
      process?.step(integer(this.#random, 0, 7));
      await new Promise(setImmediate);
      this.#look();
    }
    if (!this.#isOver()) throw new Error(`the processes did not end\n${this.trace.join("\n")}`);
    this.#loseLock();
    this.#start(); // the last process, which nothing disturbs
    const last = this.#processes.at(-1);
    for (let step = 0; step < mostSteps && last && !last.ended; step++) {
      if (last.canStep) last.step(0);
      await new Promise(setImmediate);
    }
    if (!last?.ended) throw new Error(`the last process did not end\n${this.trace.join("\n")}`);
    this.#look();
  }

  #isOver(): boolean {
    const haveEnded = this.#processes.every(({ ended, killed }) => ended || killed);
    return haveEnded && this.#processes.length >= 2;
  }

  #start(): void {
    const number = this.#processes.length + 1;
    const process = new SimulatedProcess(number, this.#random() < 0.5 ? "here" : `host ${number}`);
    this.#processes.push(process);
    this.trace.push(`process ${number} starts on ${process.host}`);
    const end = (outcome: Omit<Ended, "process">) => {
      process.ended = true;
      process.closeAll();
      if (process.killed) return;
      this.ended.push({ process, ...outcome });
      this.trace.push(`process ${number}: ${outcome.said ? JSON.stringify(outcome.said) : outcome.error}`);
    };
    current
      .run(process, () => runOnce(process, this.#job, this.#sabotage))
      .then(
        (said) => end({ said }),
        (error: unknown) => end({ error }),
      );
  }

  /** Before some steps, disturbs a process or the lock; more often if no process could continue otherwise. */
  async #disturbPerhaps(): Promise<void> {
    const isStuck = this.#processes.every(({ canStep }) => !canStep);
    if (!isStuck && this.#random() > 0.02) return;
    const alive = this.#processes.filter(({ ended, killed }) => !ended && !killed);
    const frozen = alive.filter((process) => process.frozen);
    const awake = alive.filter((process) => !process.frozen);
    const draw = this.#random();
    const some = (list: readonly SimulatedProcess[]) => list[integer(this.#random, 0, Math.max(0, list.length - 1))];
    if (draw < 0.35) this.#freeze(some(awake));
    else if (draw < 0.45) this.#kill(some(awake));
    else if (draw < 0.65) this.#wake(some(frozen));
    else if (draw < 0.7) this.#leaveReading();
    else if (this.#processes.length < mostProcesses && (frozen.length > 0 || awake.length === 0 || draw > 0.95)) {
      this.#loseLock();
      this.#start();
    }
    if (isStuck && this.#processes.length >= mostProcesses) this.#wake(some(frozen));
  }

  #freeze(process: SimulatedProcess | undefined): void {
    if (!process) return;
    process.frozen = true;
    this.trace.push(`process ${process.number} is frozen before its step ${process.steps + 1}`);
    this.met.add("frozen");
  }

  #wake(process: SimulatedProcess | undefined): void {
    if (!process) return;
    process.frozen = false;
    this.trace.push(`process ${process.number} wakes`);
    this.met.add("woken");
  }

  #kill(process: SimulatedProcess | undefined): void {
    if (!process) return;
    process.killed = true;
    process.closeAll();
    this.trace.push(`process ${process.number} is killed before its step ${process.steps + 1}`);
    this.met.add("killed");
  }

  /** Removes the lock of its owner, or makes a lock stale, as after two minutes without a heartbeat. */
  #loseLock(): void {
    const hidden = join(this.place, ".work");
    const isRemoved = this.#random() < 0.5;
    this.trace.push(isRemoved ? "the lock is removed" : "no lock is touched for two minutes");
    this.met.add(isRemoved ? "lock removed" : "lock stale");
    if (isRemoved) fs.rmSync(join(hidden, "lock"), { force: true });
    const longAgo = Date.now() / 1000 - 300;
    const locks = fs.readdirSync(hidden).filter((name) => name.startsWith("lock"));
    if (!isRemoved) for (const name of locks) fs.utimesSync(join(hidden, name), longAgo, longAgo);
  }

  #leaveReading(): void {
    const name = `20261120T0200000${String(this.readings.length).padStart(2, "0")}Z-1`;
    this.readings.push(name);
    fs.writeFileSync(join(this.place, ".work", "indexing_status", `${name}.jsonl`), name);
  }

  /** Remembers newly published files, which must never change afterwards. */
  #look(): void {
    const runs = join(this.place, "runs");
    for (const run of fs.existsSync(runs) ? fs.readdirSync(runs) : []) {
      for (const name of fs.readdirSync(join(runs, run), { encoding: "utf8", recursive: true })) {
        const path = join(runs, run, name);
        if (fs.statSync(path).isDirectory()) continue;
        if (!this.published.has(path)) this.published.set(path, fs.readFileSync(path, "utf8"));
      }
    }
  }
}
