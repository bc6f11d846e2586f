import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasRedis, startRedis, type TestBroker } from "../../servers/start-redis.js";
import { countInFlight } from "./count-in-flight.js";
import { skipQuarantine } from "./skip-quarantine.js";
import { startMember } from "./start-member.js";

describe.skipIf(!hasRedis)("processes that read one service", () => {
  let broker: TestBroker;
  beforeAll(async () => {
    broker = await startRedis();
    await skipQuarantine(broker.url);
  });
  afterAll(() => broker.stop());

  test("one alone uses all places; two share them; who is left has all again; never more than there are", async () => {
    const service = await countInFlight(() => 20 + Math.random() * 20);
    const options = { broker: broker.url, service: service.url };
    await startMember({ ...options, name: "a" });
    await vi.waitFor(() => expect(service.of("a")).toBe(8), { timeout: 1_000 });
    const second = await startMember({ ...options, name: "b" });
    await vi.waitFor(() => expect([service.of("a"), service.of("b")]).toEqual([4, 4]), { timeout: 1_500 });
    await second.leave();
    await vi.waitFor(() => expect(service.of("a")).toBe(8), { timeout: 2_500 });
    expect(service.most()).toBe(8);
  });

  test("when the service refuses one request, all processes pause, those that come later included", async () => {
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
    const options = { broker: broker.url, service: service.url };
    const members = [await startMember({ ...options, name: "a" }), await startMember({ ...options, name: "b" })];
    await vi.waitFor(() => expect([service.of("a"), service.of("b")]).toEqual([4, 4]), { timeout: 2_000 });
    refuseFrom = performance.now();
    await vi.waitFor(() => expect(refusedAt).toBeDefined());
    await startMember({ ...options, name: "c" });
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
