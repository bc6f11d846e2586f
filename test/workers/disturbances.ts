import { integer, pick, type Random } from "../servers/random.js";

/** The number of a process in a round: 0 is the coordinator, the others are workers. */
export type Seat = number;

/** An event that hits a process or the broker, `after` this many requests since the event before. */
export type Disturbance = { readonly after: number } & (
  | { readonly kind: "kill"; readonly seat: Seat; readonly startAfter: number }
  | { readonly kind: "freeze"; readonly seat: Seat; readonly wakeAfter: number }
  | { readonly kind: "forget" }
  | { readonly kind: "restart the broker"; readonly startAfter: number }
  | { readonly kind: "freeze the broker"; readonly wakeAfter: number }
);

export const workerCount = 3;

/** Milliseconds to freeze a process for longer than its locks last, so that others take over its work. */
const beyondLease = [5_500, 7_500] as const;

/** Whether a process is frozen for longer than its locks last: others replace it while its connections stay open. */
export function stalls(each: Disturbance): boolean {
  return each.kind === "freeze" && each.wakeAfter >= beyondLease[0];
}

/** Draws the disturbances of a round. At least one worker is never frozen until the end of the run. */
export function drawDisturbances(random: Random): readonly Disturbance[] {
  let canSleep = workerCount - 1;
  return Array.from({ length: integer(random, 3, 8) }, () => {
    const after = random() < 0.25 ? 0 : integer(random, 1, 120);
    const worker = integer(random, 1, workerCount);
    const startAfter = integer(random, 0, 1_500);
    const wakeAfter = random() < 0.2 ? integer(random, ...beyondLease) : integer(random, 100, 2_000);
    const drawn = pick(random, kinds);
    if (drawn === "kill a worker") return { after, kind: "kill", seat: worker, startAfter };
    if (drawn === "kill the coordinator") return { after, kind: "kill", seat: 0, startAfter };
    if (drawn === "freeze the coordinator") return { after, kind: "freeze", seat: 0, wakeAfter };
    if (drawn !== "freeze a worker") return { after, kind: drawn, startAfter, wakeAfter };
    const sleepsOn = random() < 0.3 && canSleep-- > 0;
    return { after, kind: "freeze", seat: worker, wakeAfter: sleepsOn ? Number.POSITIVE_INFINITY : wakeAfter };
  });
}

const kinds = [
  ...(["kill a worker", "kill a worker", "freeze a worker", "freeze a worker", "freeze a worker"] as const),
  ...(["kill the coordinator", "kill the coordinator", "freeze the coordinator"] as const),
  ...(["forget", "restart the broker", "freeze the broker"] as const),
] as [Drawn, ...Drawn[]];
type Drawn =
  | `kill ${"a worker" | "the coordinator"}`
  | `freeze ${"a worker" | "the coordinator"}`
  | "forget"
  | "restart the broker"
  | "freeze the broker";

export function wordsOf(each: Disturbance): string {
  const { after } = each;
  if (each.kind === "kill") return `+${after} requests: kill ${nameOf(each.seat)} (again after ${each.startAfter} ms)`;
  if (each.kind === "freeze") return `+${after} requests: freeze ${nameOf(each.seat)} for ${each.wakeAfter} ms`;
  if (each.kind === "forget") return `+${after} requests: FLUSHALL`;
  if (each.kind === "restart the broker")
    return `+${after} requests: kill the broker (again after ${each.startAfter} ms)`;
  return `+${after} requests: freeze the broker for ${each.wakeAfter} ms`;
}

export function nameOf(seat: Seat): string {
  return seat === 0 ? "the coordinator" : `worker ${seat}`;
}
