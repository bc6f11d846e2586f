import fc from "fast-check";
import { expect, test } from "vitest";
import { limitRequests } from "../../src/client/limit-requests.js";
import { Pace } from "../../src/client/pace.js";
import type { Answer, Send } from "../../src/client/retry.js";
import { inFull } from "../rounds.js";
import { type RateLimit, RateWindow } from "../servers/rate-limit.js";
import { VirtualClock } from "./virtual-clock.js";

interface Service {
  readonly limit: Pick<RateLimit, "perSecond" | "max" | "window">;
  readonly latency: number;
  /** The wait in milliseconds that the service reports; undefined if it reports none. */
  readonly retryAfter: (wait: number) => number | undefined;
}

/**
 * Sends requests as the pace permits, and repeats refused ones. The service has a sliding window that also counts
 * refused requests.
 */
async function simulate({ limit, latency, retryAfter }: Service, requests: number, concurrency = 8, maxRps?: number) {
  const clock = new VirtualClock();
  const window = new RateWindow();
  const sentAt: number[] = [];
  let refused = 0;
  const send: Send = async () => {
    sentAt.push(clock.now);
    await clock.sleep(latency / 2);
    const wait = window.arrive({ ...limit, answer: "429" }, clock.now);
    await clock.sleep(latency / 2);
    if (wait > 0) refused++;
    const headers = { "retry-after": String(retryAfter(wait)) };
    return { url: "", status: wait > 0 ? 429 : 200, headers, body: new Uint8Array() };
  };
  const refusal = ({ status, headers }: Answer) => {
    const after = Number(headers["retry-after"]);
    return status === 429 ? { retryAfter: Number.isNaN(after) ? undefined : after } : undefined;
  };
  const { signal } = new AbortController();
  const pace = new Pace(maxRps);
  const options = {
    concurrency,
    pace,
    signal,
    refusal,
    now: () => clock.now,
    sleep: clock.sleep,
  };
  const pacedSend = limitRequests(send, options);
  const untilLetIn = async () => {
    while ((await pacedSend({ path: "/segments", query: [] })).status !== 200) await clock.sleep(50);
  };
  await clock.until(Promise.all(Array.from({ length: requests }, untilLetIn)));
  return { seconds: clock.now / 1000, sentAt, refusedShare: refused / sentAt.length };
}

const inSeconds = (wait: number) => Math.ceil(wait / 1000) * 1000;

test.each([5, 20, 50])(
  "20 requests a second allowed, latency %i ms: most of the rate is used, few are refused",
  async (latency) => {
    const { seconds, refusedShare } = await simulate({ limit: { perSecond: 20 }, latency, retryAfter: inSeconds }, 800);
    expect(800 / seconds / 20).toBeGreaterThan(0.85);
    expect(refusedShare).toBeLessThan(0.05);
  },
);

test("the rate of a service that does not say how long to wait is found too", async () => {
  const service = { limit: { perSecond: 20 }, latency: 20, retryAfter: () => undefined };
  const { seconds, refusedShare } = await simulate(service, 800);
  expect(800 / seconds / 20).toBeGreaterThan(0.8);
  expect(refusedShare).toBeLessThan(0.05);
});

test("a plan limit of 100 in 60 s is waited for, not run against", async () => {
  const service = { limit: { max: 100, window: 60_000 }, latency: 20, retryAfter: () => undefined };
  const { seconds, refusedShare } = await simulate(service, 400);
  expect(400 / seconds / (100 / 60)).toBeGreaterThan(0.6);
  expect(refusedShare).toBeLessThan(0.1);
});

test("without refusals nothing is held back", async () => {
  const { seconds } = await simulate({ limit: {}, latency: 10, retryAfter: inSeconds }, 800);
  expect(seconds).toBeCloseTo(1, 1);
});

test.runIf(inFull)("max_rps is a smooth rate: never more in any time than fit into it, and hardly less", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 30 }), async (maxRps, concurrency) => {
      const service = { limit: {}, latency: 1, retryAfter: inSeconds };
      const { sentAt, seconds } = await simulate(service, 60, concurrency, maxRps);
      for (let from = 0; from < sentAt.length; from++) {
        for (let to = from + 1; to < sentAt.length; to++) {
          const time = ((sentAt[to] ?? 0) - (sentAt[from] ?? 0)) / 1000 + 0.006; // timers may be 5 ms late
          expect(to - from).toBeLessThanOrEqual(time * maxRps + 0.001);
        }
      }
      expect(seconds).toBeLessThan(59 / maxRps + 0.2);
    }),
    { numRuns: 20 },
  );
});

test("a pause stops all requests for as long as the service says, and then one is sent first", () => {
  const pace = new Pace();
  for (let request = 0; request < 9; request++) expect(pace.take(0)).toBe(0);
  for (let answer = 0; answer < 6; answer++) pace.accepted(0, 10);
  expect(pace.refused(0, 10, 2000)).toBe("limit");
  expect(pace.refused(0, 12, 3000)).toBe("known");
  expect(pace.take(15)).toBe(3012 - 15);
  expect(pace.take(3012)).toBe(0);
  expect(pace.take(3012)).toBeGreaterThan(0);
  pace.accepted(3012, 3020);
  expect(pace.rateAt(3020)).toBeCloseTo(7 / 3.02, 5);
});

test.each([
  ["the first requests", 1, 60_000],
  ["a pause of nothing", 100, 0],
])("%s being refused says nothing of the rate", (_name, letThrough, retryAfter) => {
  const pace = new Pace();
  pace.take(0);
  for (let answer = 0; answer < letThrough; answer++) pace.accepted(0, 5);
  pace.refused(0, 10, retryAfter);
  expect(pace.take(60_010)).toBe(0);
  pace.accepted(60_010, 60_020);
  expect(pace.rateAt(60_020)).toBe(Number.POSITIVE_INFINITY);
});

test("the next slot is recomputed when the rate has grown meanwhile", () => {
  const pace = new Pace();
  pace.take(0);
  for (let answer = 0; answer < 6; answer++) pace.accepted(0, 5);
  pace.refused(0, 10, 60_000);
  pace.take(60_010);
  pace.accepted(60_010, 60_020);
  const wait = pace.take(60_020);
  expect(wait).toBeGreaterThan(5_000);
  expect(pace.take(60_020 + wait - 500)).toBe(0);
});

test("refusals in a row without a word how long: seven make a limit, then 1 s, 2 s, 4 s, up to a minute", () => {
  const pace = new Pace();
  let now = 0;
  const refuse = () => {
    expect(pace.take(now)).toBe(0);
    return pace.refused(now, now, undefined);
  };
  for (let refusal = 1; refusal < 7; refusal++) expect(refuse()).toBe("chance");
  const pauses = Array.from({ length: 8 }, () => {
    expect(refuse()).toBe("limit");
    const pause = pace.take(now);
    now += pause;
    return pause;
  });
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});
