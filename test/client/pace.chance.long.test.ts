import { expect, test } from "vitest";
import { rounds } from "../rounds.js";
import { chance, type Refuses, readRefused } from "./read-refused.js";

/** For each seed, how many times longer a run takes with refusals than without; sorted. */
async function slowness(seeds: number, conditions: { requests: number; concurrency: number }, refuses: Refuses) {
  const clean = await readRefused({ ...conditions, latency: 5, seed: 0, refuses: () => false });
  const factors: number[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    factors.push((await readRefused({ ...conditions, latency: 5, seed, refuses })).seconds / clean.seconds);
  }
  return factors.toSorted((a, b) => a - b);
}

const median = (values: readonly number[]) => values[values.length >> 1];

const runs = rounds(20, 200);

test(`a tenth refused by chance, 8 in flight: the worst of ${runs} runs takes less than twice as long as without`, async () => {
  const factors = await slowness(runs, { requests: 600, concurrency: 8 }, chance(0.1));
  expect(median(factors)).toBeLessThan(1.35);
  expect(factors.at(-1)).toBeLessThan(2);
});

test.each([
  [0.01, 1, 1.2],
  [0.01, 8, 1.2],
  [0.05, 1, 1.5],
  [0.05, 2, 1.5],
  [0.05, 4, 1.5],
  [0.05, 8, 1.5],
  [0.05, 16, 1.7],
  [0.1, 1, 1.7],
  [0.1, 2, 1.7],
  [0.1, 4, 1.7],
  [0.1, 16, 2],
  [0.2, 1, 2],
  [0.2, 2, 2.2],
  [0.2, 4, 2.2],
  [0.2, 8, 2.4],
  [0.2, 16, 2.8],
])("a share of %d refused by chance, %i in flight: at most %d times as long", async (share, concurrency, most) => {
  const factors = await slowness(rounds(2, 6), { requests: 1_000, concurrency }, chance(share));
  expect(factors.at(-1)).toBeLessThan(most);
});

test("short and long runs alike", async () => {
  const short = await slowness(rounds(10, 40), { requests: 200, concurrency: 8 }, chance(0.1));
  expect(short.at(-1)).toBeLessThan(3.2);
  const long = await slowness(2, { requests: 5_000, concurrency: 8 }, chance(0.1));
  expect(long.at(-1)).toBeLessThan(1.5);
});

test("random refusals that start late cost no more", async () => {
  const late: Refuses = (now, random) => now > 300 && random() < 0.1;
  expect((await slowness(rounds(2, 10), { requests: 1_500, concurrency: 8 }, late)).at(-1)).toBeLessThan(1.7);
});
