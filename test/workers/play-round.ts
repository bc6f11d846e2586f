import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect } from "vitest";
import { hashesOf } from "../faults/published-files.js";
import { randomFrom } from "../servers/random.js";
import type { TestBroker } from "../servers/start-redis.js";
import { type Disturbance, drawDisturbances, nameOf, stalls, wordsOf, workerCount } from "./disturbances.js";
import { clearEnvironment, type Environment, expectAsSingle, expectBounded } from "./environment.js";
import type { SeatOfProcess } from "./seat.js";
import { watchRuns } from "./watch-runs.js";

/** How many milliseconds a run may take after the last disturbance. */
const patience = 120_000;
/** After this many milliseconds, the next disturbance comes even without enough requests. */
const longestCalm = 2_500;
/** How many milliseconds to watch a process that wakes late. */
const afterwards = 1_500;

/** Lets a coordinator and workers read all documents of a run while the disturbances of this seed happen. */
export async function playRound(environment: Environment, seed: number): Promise<void> {
  const script = drawDisturbances(randomFrom(seed));
  const label = `KBDUMP_WORKER_SEED=${seed}: ${script.map(wordsOf).join(", ")}`;
  await clearEnvironment(environment);
  const watch = watchRuns(join(environment.place, "runs"));
  const seats = [
    environment.startCoordinator("--quiet"),
    ...Array.from({ length: workerCount }, () => environment.startWorker()),
  ];
  const published = seats[0]?.ended;
  const sleepers: (() => void)[] = [];
  const acts: Promise<void>[] = [];
  for (const each of script) {
    await Promise.race([progressOf(environment, each.after), published]);
    if (seats[0]?.isOver()) break;
    acts.push(act(each, seats, environment.broker, sleepers));
  }
  const late = sleep(patience, undefined, { ref: false });
  const end = await Promise.race([published, late]);
  if (!end) {
    const said = await Promise.all(seats.map((seat) => seat.end("SIGKILL")));
    expect.fail(
      `${label}: no run is published. ${said.map(({ stderr }, at) => `${nameOf(at)}: ${stderr}`).join("\n")}`,
    );
  }
  expect(end, label).toMatchObject({ code: 0 });
  await Promise.all(acts);
  const before = await hashesOf(join(environment.place, "runs"));
  for (const wake of sleepers) wake();
  if (sleepers.length > 0) await sleep(afterwards);
  for (const seat of seats.slice(1)) {
    expect(seat.isOver(), `${label}: a worker ended by itself`).toBe(false);
    const { code, stderr } = await seat.end("SIGTERM");
    expect([143, null], `${label}: ${stderr}`).toContain(code); // null: killed while it was about to start
  }
  expect(await hashesOf(join(environment.place, "runs")), `${label}: a worker changed a run`).toEqual(before);
  expect(await watch.stop(), label).toEqual([]);
  await expectAsSingle(environment, label);
  expectBounded(environment, label, script.filter(stalls).length);
}

/** Waits for this many more requests. */
async function progressOf({ server }: Environment, requests: number): Promise<void> {
  const [begin, goal] = [performance.now(), server.requests.length + requests];
  while (server.requests.length < goal && performance.now() - begin < longestCalm) await sleep(5);
}

async function act(
  each: Disturbance,
  seats: readonly SeatOfProcess[],
  broker: TestBroker,
  sleepers: (() => void)[],
): Promise<void> {
  if (each.kind === "kill") return seats[each.seat]?.kill(each.startAfter);
  if (each.kind === "freeze") {
    const wake = seats[each.seat]?.freeze() ?? (() => {});
    if (each.wakeAfter === Number.POSITIVE_INFINITY) return void sleepers.push(wake);
    await sleep(each.wakeAfter);
    return wake();
  }
  return inTurn(broker, () => disturbBroker(each, broker));
}

const turns = new WeakMap<TestBroker, Promise<void>>();

/** Runs disturbances of the broker one at a time. */
function inTurn(broker: TestBroker, disturb: () => Promise<void>): Promise<void> {
  const turn = (turns.get(broker) ?? Promise.resolve()).then(disturb);
  turns.set(broker, turn);
  return turn;
}

async function disturbBroker(each: Disturbance, broker: TestBroker): Promise<void> {
  if (each.kind === "forget") return forgetAll(broker);
  if (each.kind === "restart the broker") {
    await broker.kill();
    await sleep(each.startAfter);
    return broker.start();
  }
  if (each.kind !== "freeze the broker") return;
  broker.signal("SIGSTOP");
  await sleep(each.wakeAfter);
  broker.signal("SIGCONT");
}

async function forgetAll({ url }: TestBroker): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}
