import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { hasRedis, startRedis, type TestBroker } from "../../servers/start-redis.js";
import { type CountingService, countInFlight } from "./count-in-flight.js";
import { skipQuarantine } from "./skip-quarantine.js";
import { startMember } from "./start-member.js";

const program = join(import.meta.dirname, "reader.mjs");

describe.skipIf(!hasRedis)("processes that read one service, while something breaks", () => {
  let broker: TestBroker;
  let service: CountingService;
  beforeEach(async () => {
    broker = await startRedis();
    await skipQuarantine(broker.url);
    service = await countInFlight(() => 20 + Math.random() * 30);
  });
  afterEach(() => broker.stop());

  const startReader = async (name: string) => {
    const child = spawn(process.execPath, [program, broker.url, service.url, name, "8"], { stdio: "inherit" });
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
    });
    await vi.waitFor(() => expect(service.of(name)).toBeGreaterThan(0), { timeout: 10_000 });
    return child;
  };
  const start = (name: string) => startMember({ broker: broker.url, service: service.url, name });
  const inFlight = (names: readonly string[]) => names.map((name) => service.of(name));

  test("the places of a process that was killed are in use again after its leases", async () => {
    const child = await startReader("killed");
    await start("other");
    await vi.waitFor(() => expect(inFlight(["killed", "other"])).toEqual([4, 4]), { timeout: 3_000 });
    child.kill("SIGKILL");
    const begun = performance.now();
    await vi.waitFor(() => expect(service.of("other")).toBe(8), { timeout: 8_000 });
    expect(performance.now() - begun).toBeGreaterThan(2_500);
    expect(service.most()).toBe(8);
  });

  test("a process that was frozen for longer than its leases sends nothing in the place of others", async () => {
    const child = await startReader("frozen");
    await start("other");
    await vi.waitFor(() => expect(inFlight(["frozen", "other"])).toEqual([4, 4]), { timeout: 3_000 });
    for (let round = 0; round < 3; round++) {
      child.kill("SIGSTOP");
      await vi.waitFor(() => expect(service.of("other")).toBe(8), { timeout: 8_000 });
      child.kill("SIGCONT");
      await vi.waitFor(() => expect(inFlight(["frozen", "other"])).toEqual([4, 4]), { timeout: 4_000 });
    }
    expect(service.most()).toBe(8);
  });

  test("a broker that forgets everything gives no place away that is still in use", async () => {
    const members = [await start("a"), await start("b")];
    await vi.waitFor(() => expect(inFlight(["a", "b"])).toEqual([4, 4]), { timeout: 3_000 });
    const redis = new Redis(broker.url);
    await redis.flushall();
    redis.disconnect();
    await start("c");
    const before = members.map(({ answered }) => answered());
    await vi.waitFor(() => expect(Math.min(...inFlight(["a", "b", "c"]))).toBeGreaterThanOrEqual(2), {
      timeout: 9_000,
    });
    expect(service.most()).toBe(8);
    expect(members.every(({ answered }, index) => answered() > (before[index] ?? 0))).toBe(true);
  });

  test("while the broker forgets again and again, each has one request in flight, and what comes late none; then they share", async () => {
    const slow = await countInFlight(() => 400);
    const join = (name: string) => startMember({ broker: broker.url, service: slow.url, name, concurrency: 3 });
    await Promise.all(["a", "b"].map(join));
    await vi.waitFor(() => expect(slow.most()).toBe(3), { timeout: 3_000 });
    const redis = new Redis(broker.url);
    onTestFinished(() => redis.disconnect());
    const late = ["c", "d", "e", "f", "g"];
    for (let time = 0; time < 20_000; time += 4_000) {
      await redis.flushall();
      if (time === 16_000) await Promise.all(late.map(join));
      await delay(4_000);
    }
    await redis.flushall();
    await vi.waitFor(() => expect(["a", "b"].map(slow.of)).toEqual([1, 1]), { timeout: 2_500 });
    const names = ["a", "b", ...late];
    const total = () => names.reduce((sum, name) => sum + slow.of(name), 0);
    await vi.waitFor(() => expect(total()).toBe(3), { timeout: 8_000 });
    await delay(3_000); // the first to look after the quarantine is one that comes late, or one of the others
    expect(slow.most()).toBe(3);
  }, 60_000);

  test.each([
    ["killed, and starts empty", () => broker.kill(), () => broker.start()],
    ["frozen", async () => broker.signal("SIGSTOP"), async () => broker.signal("SIGCONT")],
  ])("while the broker is %s, each process has one request in flight; then they share again", async (_, stop, goOn) => {
    const members = [await start("a"), await start("b"), await start("c")];
    await vi.waitFor(() => expect(Math.min(...inFlight(["a", "b", "c"]))).toBeGreaterThanOrEqual(2), {
      timeout: 4_000,
    });
    await stop();
    await delay(6_000);
    await vi.waitFor(() => expect(inFlight(["a", "b", "c"])).toEqual([1, 1, 1]), { timeout: 6_000 });
    expect(service.most()).toBe(8);
    service.forget();
    await delay(1_000);
    expect(service.most()).toBe(3);
    await goOn();
    await vi.waitFor(() => expect(Math.min(...inFlight(["a", "b", "c"]))).toBeGreaterThanOrEqual(2), {
      timeout: 12_000,
    });
    expect(service.most()).toBe(8);
    for (const { said } of members) {
      expect(said).toEqual([
        expect.stringMatching(/^the broker redis:.* does not answer: one request in flight until it is back$/),
        expect.stringMatching(/^the broker redis:.* is back: requests are shared with the other processes again$/),
        expect.stringMatching(/^no requests for up to 5 s: the broker redis:.* lost its data/),
      ]);
    }
  });
});
