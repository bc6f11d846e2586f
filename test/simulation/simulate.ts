import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Calls } from "./calls.js";
import { clientHeaders } from "./client-headers.js";
import { SimulatedClock } from "./clock.js";
import { SimulatedDisk } from "./disk.js";
import { streamOf } from "./draw/stream.js";
import { place } from "./files.js";
import { Life } from "./life.js";
import type { Outcome, Through } from "./outcome.js";
import { type ProcessWorld, readAll, type Sabotage } from "./read-all.js";
import type { Scenario } from "./scenario.js";
import { SimulatedService } from "./service/service.js";
import { storedIn } from "./stored.js";

/** How one process ended. */
type End =
  | { readonly kind: "through"; readonly through: Through }
  | { readonly kind: "killed"; readonly powerCut: boolean }
  | { readonly kind: "error"; readonly error: unknown };

/** Times that somebody starts it again after it gave up by itself. */
const patience = 2;
/** Milliseconds until then, at the most. */
const usualGap = 60_000;
/** Milliseconds within which a process ends that is told to. */
const longestEnd = 5_000;

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
  const [trace, violations, errors, left]: [string[], string[], unknown[], Outcome["left"][number][]] = [
    [],
    [],
    [],
    [],
  ];
  const headers = await clientHeaders();
  const sent = sabotage?.headers?.(headers) ?? headers;
  const world = { ...worldOf(scenario, folder, trace, violations, sabotage), headers: sent };
  const { service, calls, parts, clock, random, tell } = world;
  const disk = new SimulatedDisk(clock, streamOf(scenario.seed, "disk"), tell);
  place.disk = disk;
  for (let number = 1; ; number++) {
    const life = new Life(number, scenario.interruptions[number - 1], clock);
    disk.life = life;
    const end = await endOf({ ...world, life });
    life.alive = false;
    const powerCut = end.kind === "killed" && end.powerCut;
    disk.settle(powerCut);
    tell(`process ${number}: ${end.kind === "error" ? `error: ${end.error}` : end.kind}`);
    if (end.kind === "error") errors.push(end.error);
    if (clock.now - life.stoppedAt > longestEnd)
      world.violated(`it ended ${clock.now - life.stoppedAt} ms after it was told to`);
    const [through, elapsed] = [end.kind === "through" ? end.through : undefined, clock.now];
    const isLast = through !== undefined || number > scenario.interruptions.length + patience;
    const verdict = { scenario, through, errors, left, violations, elapsed, trace };
    if (isLast) return { ...verdict, lives: number, service, calls, parts };
    left.push(powerCut || left.includes(undefined) ? undefined : storedIn(parts));
    const { gap = random() * usualGap, edits = 1 } = scenario.interruptions[number - 1] ?? {};
    service.moveOn(edits);
    clock.now += gap;
  }
}

function worldOf(
  scenario: Scenario,
  folder: string,
  trace: string[],
  violations: string[],
  sabotage: Sabotage | undefined,
): Omit<ProcessWorld, "life" | "headers"> {
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
  const ended = readAll(world).then((through): End => ({ kind: "through", through }));
  const killed = world.life.killed.then((how): End => ({ kind: "killed", powerCut: how === "power cut" }));
  return world.clock.until(Promise.race([ended, killed])).catch((error: unknown): End => ({ kind: "error", error }));
}
