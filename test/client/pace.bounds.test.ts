import fc from "fast-check";
import { expect, test } from "vitest";
import { limitRequests } from "../../src/client/limit-requests.js";
import { Pace } from "../../src/client/pace.js";
import { type Answer, pause } from "../../src/client/retry.js";
import { inFull } from "../rounds.js";

const tenMinutes = 600_000;

test.each([tenMinutes + 1, 1e12, Number.POSITIVE_INFINITY])(
  "a service that asks to wait %d ms is asked again after ten minutes, as a single retry would",
  (retryAfter) => {
    const pace = new Pace();
    pace.take(0);
    pace.refused(0, 10, retryAfter);
    expect(pace.take(10)).toBe(tenMinutes);
    pace.refused(5, 20, retryAfter); // refuses a request that was already in flight
    expect(pace.take(20)).toBe(tenMinutes);
    expect(pace.take(20 + tenMinutes)).toBe(0);
  },
);

type Event = "take" | "accept" | "refuse" | "refuse, wait";

test.runIf(inFull)(
  "under all conditions the rate stays in bounds, every wait ends, and requests continue after it",
  () => {
    const events = fc.array(
      fc.tuple(
        fc.constantFrom<Event>("take", "take", "take", "accept", "accept", "refuse", "refuse, wait"),
        fc.double({ min: 0, max: 5_000, noNaN: true }),
      ),
      { maxLength: 60 },
    );
    const maxRps = fc.constantFrom(undefined, 0.5, 20);
    fc.assert(
      fc.property(events, maxRps, (script, max) => {
        const pace = new Pace(max);
        let now = 0;
        const sent: number[] = [];
        for (const [event, time] of script) {
          now += time;
          if (event === "take" && pace.take(now) === 0) sent.push(now);
          const sentAt = sent.at(0);
          if (event === "take" || sentAt === undefined) continue;
          sent.shift();
          if (event === "accept") pace.accepted(sentAt, now);
          else pace.refused(sentAt, now, event === "refuse" ? undefined : time);
          const rate = pace.rateAt(now);
          expect(rate).toBeGreaterThan(0);
          expect(rate).toBeLessThanOrEqual(max ?? Number.POSITIVE_INFINITY);
        }
        for (let wait = pace.take(now), waits = 0; wait > 0; wait = pace.take(now), waits++) {
          expect(wait).toBeLessThanOrEqual(tenMinutes);
          expect(waits).toBeLessThan(1_000);
          now += wait;
        }
      }),
      { numRuns: 2_000 },
    );
  },
);

test("a share that is 0 when an answer arrives does not stop the process forever", () => {
  let share = 20;
  const pace = new Pace(() => share);
  for (let now = 0; now < 1_000; now += 100) pace.accepted(now, now);
  pace.refused(1_000, 1_010, 1_000);
  share = 0;
  pace.accepted(2_020, 2_030); // ends the pause
  expect(pace.rateAt(2_030)).toBe(0);
  share = 20;
  expect(pace.rateAt(2_030)).toBeGreaterThan(4);
});

test("a request that fails in any way releases its slot and its place", async () => {
  let failing = true;
  const answer: Answer = { url: "http://a.example/", status: 200, headers: {}, body: new Uint8Array() };
  const send = limitRequests(
    async () => {
      if (failing) throw new Error("broken");
      return answer;
    },
    {
      concurrency: 1,
      pace: new Pace(),
      signal: new AbortController().signal,
      refusal: () => undefined,
      now: () => performance.now(),
      sleep: pause,
    },
  );
  for (let time = 0; time < 5; time++) await expect(send({ path: "/a", query: [] })).rejects.toThrow("broken");
  failing = false;
  expect(await send({ path: "/a", query: [] })).toBe(answer);
});
