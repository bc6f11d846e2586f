import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reading } from "../../src/run/reading.js";
import { Calls } from "./calls.js";
import { SimulatedClock } from "./clock.js";
import { SimulatedDisk } from "./disk.js";
import { streamOf } from "./draw-scenario.js";
import { place } from "./files.js";
import { Life } from "./life.js";
import { type ProcessWorld, readAll, type Sabotage } from "./read-all.js";
import type { Scenario } from "./scenario.js";
import { SimulatedService } from "./service.js";

/** What came of a simulation, with everything that is needed to judge it. */
export interface Outcome {
  readonly scenario: Scenario;
  /** What the last process read; undefined when it gave up, too. */
  readonly reading: Reading | undefined;
  /** Why processes ended before they were through, those that were killed aside. */
  readonly errors: readonly unknown[];
  /** Processes that there were. */
  readonly lives: number;
  readonly service: SimulatedService;
  readonly calls: Calls;
  /** The folder of the parts. */
  readonly parts: string;
  /** What the client did and must never do. */
  readonly violations: readonly string[];
  /** Simulated milliseconds that it took. */
  readonly elapsed: number;
  readonly trace: readonly string[];
}

/** How one process ended. */
type End =
  | { readonly kind: "through"; readonly reading: Reading }
  | { readonly kind: "killed"; readonly powerCut: boolean }
  | { readonly kind: "error"; readonly error: unknown };

/** Times that somebody starts it again after it gave up by itself. */
const patience = 2;
/** Milliseconds until then, at the most. */
const longestGap = 60_000;

const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/**
 * Runs a scenario from the first process to the one that ends by itself, and gives `judge` the outcome while the files are
 * still there. No real time passes, and everything happens in an order that the seed alone decides.
 */
export async function simulate<T>(scenario: Scenario, judge: (outcome: Outcome) => T, sabotage?: Sabotage): Promise<T> {
  const folder = mkdtempSync(join(memory, "kbdump-simulation-"));
  try {
    return judge(await run(scenario, folder, sabotage));
  } finally {
    place.disk = undefined;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(scenario: Scenario, folder: string, sabotage: Sabotage | undefined): Promise<Outcome> {
  const [trace, violations, errors]: [string[], string[], unknown[]] = [[], [], []];
  const world = worldOf(scenario, folder, trace, violations, sabotage);
  const { service, calls, parts, clock, random, tell } = world;
  const disk = new SimulatedDisk(clock, streamOf(scenario.seed, "disk"), tell);
  place.disk = disk;
  for (let number = 1; ; number++) {
    const life = new Life(number, scenario.interruptions[number - 1]);
    disk.life = life;
    const end = await endOf({ ...world, life });
    life.alive = false;
    disk.settle(end.kind === "killed" && end.powerCut);
    tell(`process ${number}: ${end.kind === "error" ? `error: ${end.error}` : end.kind}`);
    if (end.kind === "error") errors.push(end.error);
    const reading = end.kind === "through" ? end.reading : undefined;
    const isLast = reading !== undefined || number > scenario.interruptions.length + patience;
    const elapsed = clock.now;
    if (isLast) return { scenario, reading, errors, lives: number, service, calls, parts, violations, elapsed, trace };
    service.editPerhaps();
    clock.now += random() * longestGap;
  }
}

function worldOf(
  scenario: Scenario,
  folder: string,
  trace: string[],
  violations: string[],
  sabotage: Sabotage | undefined,
): Omit<ProcessWorld, "life"> {
  const parts = join(folder, "parts");
  mkdirSync(parts);
  const clock = new SimulatedClock();
  const tell = (line: string) => void trace.push(`${clock.now.toFixed(1)} ${line}`);
  const violated = (text: string) => {
    tell(`VIOLATION ${text}`);
    violations.push(text);
  };
  const [service, calls, random] = [
    new SimulatedService(scenario, tell),
    new Calls(),
    streamOf(scenario.seed, "world"),
  ];
  return { scenario, clock, service, calls, random, tell, violated, folder, parts, sabotage };
}

/** Lets a process live until it is through, ends with an error, or is killed. */
async function endOf(world: ProcessWorld): Promise<End> {
  const through = readAll(world).then((reading): End => ({ kind: "through", reading }));
  const killed = world.life.killed.then((how): End => ({ kind: "killed", powerCut: how === "power cut" }));
  return world.clock.until(Promise.race([through, killed])).catch((error: unknown): End => ({ kind: "error", error }));
}
