import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasRedis, startRedis, type TestBroker } from "../servers/start-redis.js";
import { countInFlight } from "./count-in-flight.js";
import { settleBroker } from "./settle-broker.js";
import { startMember } from "./start-member.js";

/** The most requests in any second. */
function mostInASecond(arrivals: readonly { readonly at: number }[]): number {
  return Math.max(
    ...arrivals.map(({ at }, index) => arrivals.slice(index).filter((later) => later.at < at + 1_000).length),
  );
}

describe.skipIf(!hasRedis)("the rate of all processes together", () => {
  let broker: TestBroker;
  beforeAll(async () => {
    broker = await startRedis();
    await settleBroker(broker.url);
  });
  afterAll(() => broker.stop());

  test("is used by one alone, though one request at a time is enough, and shared by those that come; it is never exceeded", async () => {
    const service = await countInFlight(() => 2);
    const setting = { broker: broker.url, service: service.url, maxRps: 60 };
    await startMember({ ...setting, name: "a", asked: 1 });
    await delay(500);
    const begun = service.arrivals.length;
    await delay(700);
    expect(service.arrivals.length - begun).toBeGreaterThan(0.7 * 60 * 0.8);
    await startMember({ ...setting, name: "b", asked: 3 });
    await delay(800);
    const shared = service.arrivals.length;
    await delay(1_000);
    const since = service.arrivals.slice(shared);
    const ofB = since.filter(({ from }) => from === "b").length;
    expect([since.length > 48, ofB > 20, ofB < 40]).toEqual([true, true, true]);
    expect(mostInASecond(service.arrivals)).toBeLessThanOrEqual(63);
  });

  test("stands still in all processes, those that come later included, when the service refuses one request", async () => {
    let refusedAt: number | undefined;
    const service = await countInFlight(
      () => 10,
      () => {
        if (performance.now() < (refuseFrom ?? Number.POSITIVE_INFINITY) || refusedAt !== undefined) return 200;
        refusedAt = performance.now();
        return 429;
      },
    );
    let refuseFrom: number | undefined;
    const setting = { broker: broker.url, service: service.url };
    const members = [await startMember({ ...setting, name: "a" }), await startMember({ ...setting, name: "b" })];
    await vi.waitFor(() => expect([service.of("a"), service.of("b")]).toEqual([4, 4]), { timeout: 2_000 });
    refuseFrom = performance.now();
    await vi.waitFor(() => expect(refusedAt).toBeDefined());
    await startMember({ ...setting, name: "c" });
    await delay(1_100);
    const from = (refusedAt ?? 0) + 50;
    const early = service.arrivals.filter(({ at }) => at > from && at < (refusedAt ?? 0) + 950);
    expect(early.map((arrival) => arrival.from)).toEqual([]);
    expect(members.map(({ throttled }) => throttled()).sort()).toEqual([0, 1]);
    await vi.waitFor(
      () => expect(new Set(service.arrivals.filter(({ at }) => at > from).map((one) => one.from)).size).toBe(3),
      { timeout: 4_000 },
    );
  });
});
