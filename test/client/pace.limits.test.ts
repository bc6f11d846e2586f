import { expect, test } from "vitest";
import { chance, fixedWindow, type Refuses, readRefused, slidingWindow, tokenBucket } from "./read-refused.js";

/**
 * Each case: the service's limit, the conditions, the most refusals, and the least share of the allowed rate. The bounds were
 * measured with a simpler pace, which treats every refusal as a rate limit. Ours may take 20 more refusals.
 */
test.each<[string, number, number, number, () => Refuses, number, number]>([
  ["sliding window", 1, 50, 8, () => slidingWindow(1), 60, 0.65],
  ["sliding window", 5, 50, 4, () => slidingWindow(5), 10, 0.88],
  ["sliding window", 20, 5, 1, () => slidingWindow(20), 6, 0.9],
  ["sliding window", 20, 5, 8, () => slidingWindow(20), 13, 0.9],
  ["sliding window", 20, 500, 16, () => slidingWindow(20), 60, 0.65],
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
    expect(1_500 / seconds / 20).toBeGreaterThan(0.2); // 0.06 if every refusal counts as a rate limit
  }
});

test.each([16, 8])(
  "a limit far below max_rps is found as fast as one without max_rps, %i in flight",
  async (concurrency) => {
    const conditions = { requests: 240, concurrency, latency: 60, seed: 1 };
    const refusedWith = async (maxRps?: number) => {
      const { refused } = await readRefused({ ...conditions, maxRps, refuses: slidingWindow(12) });
      return refused;
    };
    expect(await refusedWith(150)).toBeLessThanOrEqual((await refusedWith()) + 5);
  },
);

test("a rate limit that follows random refusals is found", async () => {
  const limit = slidingWindow(20);
  const refuses: Refuses = (now, random) => (now < 1_000 ? random() < 0.1 : limit(now, random));
  const { seconds, refused } = await readRefused({ requests: 2_400, concurrency: 8, latency: 5, seed: 1, refuses });
  expect(refused).toBeLessThan(500);
  expect((2_400 - 1_400) / seconds).toBeGreaterThan(10);
});

test("Retry-After is respected for random refusals too: nothing is sent before it is over", async () => {
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

test("a reader of one page at a time gives up no page at a limit", async () => {
  const conditions = { requests: 30, concurrency: 1, latency: 5, seed: 1, retries: 6 };
  const { progress } = await readRefused({ ...conditions, refuses: fixedWindow(10, 20_000) });
  expect(progress.retriedBy).toEqual({ 429: progress.throttled });
});

test.each([
  [10, 20_000, 8, 50],
  [16, 60_000, 8, 46],
  [16, 60_000, 16, 48],
])(
  "a limit of %i in %i ms, %i in flight, is tried less often once it is known",
  async (most, window, concurrency, mostRefused) => {
    const refuses = slidingWindow(most, window);
    const { refused } = await readRefused({ requests: 80, concurrency, latency: 25, seed: 1, refuses });
    expect(refused).toBeLessThan(mostRefused); // 60, 52 and 53 if every window takes seven refusals in a row
  },
);
