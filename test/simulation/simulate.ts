import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { worldOf } from "./environment.js";
import { place } from "./files.js";
import type { Outcome } from "./outcome.js";
import { Processes } from "./processes.js";
import { readAll, type Sabotage } from "./read-all.js";
import type { Scenario } from "./scenario.js";
import { storedIn } from "./stored.js";

const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/**
 * Runs a scenario from the first process to the one that ends by itself, and gives `judge` the outcome while the files are
 * still there. No real time passes, and everything happens in an order that the seed alone decides.
 */
export function simulate<T>(scenario: Scenario, judge: (outcome: Outcome) => T, sabotage?: Sabotage): Promise<T> {
  return inFolder(async (folder) => judge(await run(scenario, folder, sabotage)));
}

/** Gives the work a folder in memory, which is removed afterwards, and the real disk is back in its place. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(memory, "kbdump-simulation-"));
  try {
    return await work(folder);
  } finally {
    place.disk = undefined;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(scenario: Scenario, folder: string, sabotage: Sabotage | undefined): Promise<Outcome> {
  const environment = await worldOf(scenario, folder, sabotage);
  const left: Outcome["left"][number][] = [];
  const processes = new Processes(environment);
  const through = await processes.run(readAll, (powerCut) => {
    left.push(powerCut || left.includes(undefined) ? undefined : storedIn(environment.segments));
  });
  const { service, calls, segments, violations, trace } = environment;
  const { lives, errors } = processes;
  return {
    scenario,
    through,
    errors,
    lives,
    left,
    service,
    calls,
    segments,
    violations,
    trace,
  };
}
