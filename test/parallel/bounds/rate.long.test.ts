import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasRedis, startRedis, type TestBroker } from "../../servers/start-redis.js";
import { countInFlight } from "./count-in-flight.js";
import { skipQuarantine } from "./skip-quarantine.js";
import { startMember } from "./start-member.js";

/** The most requests in any second. */
function mostInASecond(arrivals: readonly { readonly at: number }[]): number {
  return Math.max(
    ...arrivals.map(({ at }, index) => arrivals.slice(index).filter((later) => later.at < at + 1_000).length),
  );
}

describe.skipIf(!hasRedis)("what all processes share", () => {
  let broker: TestBroker;
  beforeAll(async () => {
    broker = await startRedis();
    await skipQuarantine(broker.url);
  });
  afterAll(() => broker.stop());

  test("a rate is used by one alone, though one request at a time is enough, and shared by those that come; it is never exceeded", async () => {
    const service = await countInFlight(() => 2);
    const options = { broker: broker.url, service: service.url, maxRps: 60 };
    await startMember({ ...options, name: "a", asked: 1 });
    await delay(500);
    const begun = service.arrivals.length;
    await delay(700);
    expect(service.arrivals.length - begun).toBeGreaterThan(0.7 * 60 * 0.8);
    await startMember({ ...options, name: "b", asked: 3 });
    await delay(800);
    const shared = service.arrivals.length;
    await delay(1_000);
    const since = service.arrivals.slice(shared);
    const ofB = since.filter(({ from }) => from === "b").length;
    expect([since.length > 48, ofB > 20, ofB < 40]).toEqual([true, true, true]);
    expect(mostInASecond(service.arrivals)).toBeLessThanOrEqual(63);
  });

  test("where there are more processes than places, each has its turn", async () => {
    const service = await countInFlight(() => 10);
    const options = { broker: broker.url, service: service.url, concurrency: 2 };
    const members = await Promise.all(["a", "b", "c"].map((name) => startMember({ ...options, name })));
    await vi.waitFor(() => expect(members.every(({ answered }) => answered() > 0)).toBe(true), { timeout: 6_000 });
    expect(service.most()).toBe(2);
  });
});
