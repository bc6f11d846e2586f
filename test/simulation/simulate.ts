import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentOf } from "./environment.js";
import { place } from "./files.js";
import type { Outcome } from "./outcome.js";
import { Processes } from "./processes.js";
import { readAll, type Sabotage } from "./read-all.js";
import type { Scenario } from "./scenario.js";
import { storedIn } from "./stored.js";

const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/**
 * Runs a scenario from its first process to the last, and passes the outcome to `judge` while the files still exist. No real time
 * passes, and only the seed decides the order of events.
 */
export function simulate<T>(scenario: Scenario, judge: (outcome: Outcome) => T, sabotage?: Sabotage): Promise<T> {
  return inFolder(async (folder) => judge(await run(scenario, folder, sabotage)));
}

/** Runs the work with a folder in memory. Afterwards, removes the folder and restores the real disk. */
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
  const environment = await environmentOf(scenario, folder, sabotage);
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
