import { expect, test } from "vitest";
import { chance, fixedWindow, type Refuses, readRefused, slidingWindow, tokenBucket } from "./read-refused.js";

/** How many times as long as without refusals the runs of so many seeds take, in order. */
async function slowness(seeds: number, setting: { requests: number; concurrency: number }, refuses: Refuses) {
  const clean = await readRefused({ ...setting, latency: 5, seed: 0, refuses: () => false });
  const factors: number[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    factors.push((await readRefused({ ...setting, latency: 5, seed, refuses })).seconds / clean.seconds);
  }
  return factors.toSorted((a, b) => a - b);
}

const median = (values: readonly number[]) => values[values.length >> 1];

test("a tenth refused by chance, 8 in flight: the worst of 200 runs takes less than twice as long as without", async () => {
  const factors = await slowness(200, { requests: 1_000, concurrency: 8 }, chance(0.1));
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
  const factors = await slowness(8, { requests: 1_000, concurrency }, chance(share));
  expect(factors.at(-1)).toBeLessThan(most);
});

test("short and long runs alike", async () => {
  const short = await slowness(40, { requests: 200, concurrency: 8 }, chance(0.1));
  expect(short.at(-1)).toBeLessThan(3.2);
  const long = await slowness(2, { requests: 5_000, concurrency: 8 }, chance(0.1));
  expect(long.at(-1)).toBeLessThan(1.5);
});

test("chance that sets in late costs no more", async () => {
  const late: Refuses = (now, random) => now > 300 && random() < 0.1;
  expect((await slowness(10, { requests: 1_500, concurrency: 8 }, late)).at(-1)).toBeLessThan(1.7);
});

/** The figures are about those of a pace that takes every refusal for a limit; the pace may be refused 20 times more, once. */
test.each<[string, number, number, number, () => Refuses, number, number]>([
  ["sliding window", 1, 50, 8, () => slidingWindow(1), 60, 0.65],
  ["sliding window", 5, 50, 4, () => slidingWindow(5), 10, 0.88],
  ["sliding window", 20, 5, 1, () => slidingWindow(20), 6, 0.9],
  ["sliding window", 20, 5, 8, () => slidingWindow(20), 13, 0.9],
  ["sliding window", 20, 500, 16, () => slidingWindow(20), 35, 0.65],
  ["sliding window", 100, 5, 16, () => slidingWindow(100), 19, 0.88],
  ["fixed window", 5, 50, 4, () => fixedWindow(5), 11, 0.89],
  ["fixed window", 20, 5, 8, () => fixedWindow(20), 15, 0.88],
  ["fixed window", 100, 50, 8, () => fixedWindow(100), 35, 0.75],
  ["fixed window of a minute", 5, 50, 8, () => fixedWindow(300, 60_000), 20, 1],
  ["token bucket", 1, 5, 1, () => tokenBucket(1), 59, 0.61],
  ["token bucket", 5, 50, 8, () => tokenBucket(5), 15, 0.89],
  ["token bucket", 20, 5, 1, () => tokenBucket(20), 6, 0.92],
  ["token bucket", 20, 50, 8, () => tokenBucket(20), 12, 0.92],
  ["token bucket", 20, 500, 16, () => tokenBucket(20), 40, 0.75],
  ["token bucket with a burst", 20, 50, 8, () => tokenBucket(20, 200), 30, 1.1],
])(
  "a %s of %i a second, %i ms, %i in flight is kept to",
  async (...[, perSecond, latency, concurrency, limit, most, least]) => {
    const requests = 60 * perSecond;
    const { refused, seconds } = await readRefused({ requests, concurrency, latency, seed: 1, refuses: limit() });
    expect(refused).toBeLessThan(most + Math.max(20, most / 2));
    expect(requests / seconds / perSecond).toBeGreaterThan(0.85 * least);
  },
);

test.each<[string, () => Refuses]>([
  ["sliding window", () => slidingWindow(20)],
  ["fixed window", () => fixedWindow(20)],
  ["token bucket", () => tokenBucket(20)],
])("a %s of 20 a second beside a tenth refused by chance is kept to, and well used", async (_, limit) => {
  for (const concurrency of [1, 8]) {
    const isOver = limit();
    const byChance = chance(0.1);
    const refuses: Refuses = (now, random) => [byChance(now, random), isOver(now, random)].includes(true);
    const { seconds, refused, sent } = await readRefused({
      requests: 1_500,
      concurrency,
      latency: 5,
      seed: 1,
      refuses,
    });
    expect(refused / sent).toBeLessThan(0.3);
    expect(1_500 / seconds / 20).toBeGreaterThan(0.2); // 0.06 where every refusal counts for a limit
  }
});

test("a limit that comes behind chance is found", async () => {
  const limit = slidingWindow(20);
  const refuses: Refuses = (now, random) => (now < 1_000 ? random() < 0.1 : limit(now, random));
  const { seconds, refused } = await readRefused({ requests: 2_400, concurrency: 8, latency: 5, seed: 1, refuses });
  expect(refused).toBeLessThan(500);
  expect((2_400 - 1_400) / seconds).toBeGreaterThan(10);
});

test("Retry-After is kept to, by chance or not: nobody is sent before it is over", async () => {
  const until: number[] = [];
  const refuses: Refuses = (now, random) => {
    if (random() > 0.02) return false;
    until.push(now);
    return "2";
  };
  const { sentAt } = await readRefused({ requests: 500, concurrency: 8, latency: 5, seed: 1, refuses });
  expect(until.length).toBeGreaterThan(5);
  for (const at of until) {
    expect(sentAt.filter((sent) => sent > at + 5 && sent < at + 2_000)).toEqual([]);
  }
});

test("whoever reads one page after the other gives none up at a limit", async () => {
  const setting = { requests: 30, concurrency: 1, latency: 5, seed: 1, retries: 6 };
  const { tally } = await readRefused({ ...setting, refuses: fixedWindow(10, 20_000) });
  expect(tally.retriedBy).toEqual({ 429: tally.throttled });
});
