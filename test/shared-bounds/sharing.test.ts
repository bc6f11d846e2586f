import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasRedis, startRedis, type TestBroker } from "../servers/start-redis.js";
import { countInFlight } from "./count-in-flight.js";
import { settleBroker } from "./settle-broker.js";
import { startMember } from "./start-member.js";

describe.skipIf(!hasRedis)("processes that read one service", () => {
  let broker: TestBroker;
  beforeAll(async () => {
    broker = await startRedis();
    await settleBroker(broker.url);
  });
  afterAll(() => broker.stop());

  test("one alone uses all places; two share them; who is left has all again; never more than there are", async () => {
    const service = await countInFlight(() => 20 + Math.random() * 20);
    const setting = { broker: broker.url, service: service.url };
    await startMember({ ...setting, name: "a" });
    await vi.waitFor(() => expect(service.of("a")).toBe(8), { timeout: 1_000 });
    const second = await startMember({ ...setting, name: "b" });
    await vi.waitFor(() => expect([service.of("a"), service.of("b")]).toEqual([4, 4]), { timeout: 1_500 });
    await second.leave();
    await vi.waitFor(() => expect(service.of("a")).toBe(8), { timeout: 2_500 });
    expect(service.most()).toBe(8);
  });
});
