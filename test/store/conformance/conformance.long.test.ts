import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rounds } from "../../rounds.js";
import { adapters, type Place, type Seen } from "./adapters.js";
import { type Owner, startOwner, steps } from "./owners.js";

/**
 * The promise of every store: each publishing step of an owner either happens before its successor takes over, which
 * then builds on it, or fails. Owners run in their own processes; tests freeze and kill them before each step and at
 * random times.
 */
describe.each(adapters)("a job in $name", { timeout: 900_000 }, ({ isHere, open }) => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    if (isHere) opened = await open();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  /** A job with three runs, so that the next owner removes one. */
  async function placeWithRuns(): Promise<Place> {
    const place = await opened.newPlace();
    for (let run = 0; run < 3; run++) await startOwner(place.machine).end();
    return place;
  }

  /** Lets another owner publish; expects that it succeeds and keeps the runs that readers saw. */
  async function publishAfter(place: Place, label: string, machine = place.machine): Promise<Seen> {
    const before = await place.seen();
    const next = startOwner(machine);
    await next.end();
    expect(failuresOf(next), label).toEqual([]);
    const seen = await place.seen();
    expectWhole(seen, label);
    expect(seen.latest, label).toBe(next.runId());
    for (const id of Object.keys(before.runs).slice(1)) expect(Object.keys(seen.runs), label).toContain(id);
    return seen;
  }

  test.skipIf(!isHere)("owners publish one after another; meanwhile a second one is refused", async () => {
    const place = await placeWithRuns();
    const three = await place.seen();
    expectWhole(three, "three runs");
    expect(Object.keys(three.runs)).toHaveLength(3);
    const first = startOwner(place.machine, { gated: true });
    expect(await first.until("upload")).toBe(true);
    const second = startOwner(place.machine);
    await second.end();
    expect(failuresOf(second)).toEqual(["lease: BusyError"]);
    expect(await place.seen()).toEqual(three);
    await first.end();
    expect(failuresOf(first)).toEqual([]);
    const seen = await place.seen();
    expectWhole(seen, "four runs, one removed");
    expect(Object.keys(seen.runs)).toEqual([...Object.keys(three.runs).slice(1), first.runId()]);
    await place.expectTidy(seen);
  });

  test.skipIf(!isHere)(
    "killed before each step: the next owner starts at once and has all that was published",
    async () => {
      const place = await placeWithRuns();
      for (const step of steps.slice(1)) {
        const killed = startOwner(place.machine, { gated: true });
        expect(await killed.until(step), step).toBe(true);
        killed.signal("SIGKILL");
        await killed.end();
        const seen = await publishAfter(place, `killed before ${step}`);
        await place.expectTidy(seen);
      }
    },
  );

  test.skipIf(!isHere)("frozen before each step while a successor publishes: every later step fails", async () => {
    const place = await placeWithRuns();
    for (const step of steps.slice(1)) {
      const frozen = startOwner(place.machine, { gated: true });
      expect(await frozen.until(step), step).toBe(true);
      frozen.signal("SIGSTOP");
      const seen = await publishAfter(place, `frozen before ${step}`, await place.expire());
      frozen.signal("SIGCONT");
      await frozen.end();
      expectStopped(frozen, step, place);
      expect(await place.seen(), `woken before ${step}`).toEqual(seen);
    }
  });

  test.skipIf(!isHere)("frozen at random moments: readers still see whole runs, those of the successor", async () => {
    const place = await placeWithRuns();
    for (let round = 0; round < rounds(2, 6, "KBDUMP_FREEZE_ROUNDS"); round++) {
      const frozen = startOwner(place.machine);
      const moment = Math.round(200 + Math.random() * 1_200);
      await sleep(moment);
      frozen.signal("SIGSTOP");
      const label = `round ${round}, frozen after ${moment} ms`;
      const seen = await publishAfter(place, label, await place.expire());
      frozen.signal("SIGCONT");
      await frozen.end();
      const after = await place.seen();
      expectWhole(after, label);
      // An owner that was frozen before it took the lease publishes after it wakes, and removes the oldest run.
      for (const id of Object.keys(seen.runs).slice(1)) expect(after.runs[id], label).toBe(seen.runs[id]);
    }
  });

  test.skipIf(!isHere)("owners that race: each is refused or publishes, and no run is lost", async () => {
    const place = await opened.newPlace();
    const published: string[] = [];
    for (let round = 0; round < rounds(2, 4, "KBDUMP_FREEZE_ROUNDS"); round++) {
      const owners = Array.from({ length: 4 }, () => startOwner(place.machine));
      await Promise.all(owners.map((owner) => owner.end()));
      const winners = owners.filter((owner) => failuresOf(owner).length === 0);
      expect(winners.length).toBeGreaterThan(0);
      for (const owner of owners) if (!winners.includes(owner)) expect(failuresOf(owner)).toEqual(["lease: BusyError"]);
      published.push(...winners.map((owner) => owner.runId() ?? ""));
      const seen = await place.seen();
      expectWhole(seen, `round ${round}`);
      expect(Object.keys(seen.runs).sort()).toEqual(published.sort().slice(-Object.keys(seen.runs).length));
      expect(seen.latest).toBe(published.at(-1));
    }
  });
});

/** The failed steps, as `<step>: <error>`. */
function failuresOf({ lines }: Owner): readonly string[] {
  return lines.flatMap(({ failed, error }) => (failed === undefined ? [] : [`${failed}: ${error}`]));
}

/** Expects that `latest` and the last run in the database are both the newest run. */
function expectWhole({ runs, latest, database }: Seen, label: string): void {
  const ids = Object.keys(runs);
  expect(latest, label).toBe(ids.at(-1));
  expect(database.at(-1), label).toBe(ids.at(-1));
}

/** Expects that the owner took no visible step from this one on. */
function expectStopped({ lines }: Owner, step: string, { unseen }: Place): void {
  const seen = ["commit", "database", "latest", "remove"].filter((name) => !unseen.includes(name));
  const later = steps.slice(steps.indexOf(step)).filter((name) => seen.includes(name));
  const taken = lines.flatMap(({ done }) => done ?? []).filter((name) => later.includes(name));
  expect(taken, `woken before ${step}`).toEqual([]);
}
