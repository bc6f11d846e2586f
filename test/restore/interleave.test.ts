import { expect, test } from "vitest";
import { interleave, type Waiting } from "../../src/restore/write-once.js";
import { JumpingClock } from "../client/jumping-clock.js";

/** A task that records each of its steps, and waits this many milliseconds after each step but the last. */
async function* noting(name: string, waits: readonly number[], turns: string[], clock: JumpingClock): Waiting<string> {
  for (const wait of waits) {
    turns.push(`${name} at ${clock.now()}`);
    yield clock.now() + wait;
  }
  turns.push(`${name} at ${clock.now()}`);
  return name;
}

const { signal } = new AbortController();

test("waiting items are revisited after all had a turn, the earliest first; results keep their order", async () => {
  const clock = new JumpingClock();
  const turns: string[] = [];
  const counts: number[] = [];
  const works = [
    noting("a", [600, 100], turns, clock),
    noting("b", [], turns, clock),
    noting("c", [500], turns, clock),
  ];
  const onWaiting = (count: number) => counts.push(count);
  expect(await interleave(works, { signal, now: clock.now, sleep: clock.sleep, onWaiting })).toEqual(["a", "b", "c"]);
  expect(turns).toEqual(["a at 0", "b at 0", "c at 0", "c at 500", "a at 600", "a at 700"]);
  expect([clock.waits, counts]).toEqual([
    [500, 100, 100],
    [1, 1, 2, 1, 1, 0],
  ]);
});

test("a failure ends all", async () => {
  const clock = new JumpingClock();
  async function* failing(): Waiting<string> {
    yield 5;
    throw new Error("broken");
  }
  const turns: string[] = [];
  const works = [failing(), noting("late", [900], turns, clock)];
  await expect(interleave(works, { signal, now: clock.now, sleep: clock.sleep })).rejects.toThrow("broken");
  expect(turns).toEqual(["late at 0"]);
});
