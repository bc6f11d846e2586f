import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { rounds } from "../../rounds.js";
import { integer, pick, randomFrom } from "../../servers/random.js";
import { hasRedis, startRedis, type TestBroker } from "../../servers/start-redis.js";
import { countInFlight } from "./count-in-flight.js";
import { skipQuarantine } from "./skip-quarantine.js";
import { startMember, type TestMember } from "./start-member.js";

const seeds = Array.from({ length: rounds(1, 2, "KBDUMP_BOUNDS_ROUNDS") }, (_, index) => {
  return Number(process.env.KBDUMP_SEED ?? 1) + index;
});

/** Too short for anybody to go alone, and long enough. */
const times = [100, 1_500, 9_000] as const;

/** A quarantine of three leases is the longest that anybody waits; then come some requests. */
const longestWait = 20_000;

async function forget(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}

/** Breaks the broker for a while. */
type Fault = (broker: TestBroker, time: number) => Promise<void>;
const faults: readonly [Fault, ...Fault[]] = [
  async (broker) => forget(broker.url),
  async (broker) => broker.restart(),
  async (broker, time) => {
    await broker.kill();
    await delay(time);
    await broker.start();
  },
  async (broker, time) => {
    broker.signal("SIGSTOP");
    await delay(time);
    broker.signal("SIGCONT");
  },
];

describe.skipIf(!hasRedis)("whatever happens to the broker, and whoever comes and goes", () => {
  test.each(seeds)(
    "there are never more requests in flight than allowed, and everybody goes on: seed %i",
    async (seed) => {
      const random = randomFrom(seed);
      const broker = await startRedis();
      onTestFinished(() => broker.stop());
      await skipQuarantine(broker.url);
      const service = await countInFlight(() => 5 + random() * 45);
      const concurrency = integer(random, 5, 8);
      const members: TestMember[] = [];
      const isPaused = new Set<TestMember>();
      const step = async (number: number) => {
        const member = members[integer(random, 0, members.length - 1)];
        const choice = random();
        if (!member || members.length < 3 || (choice < 0.35 && members.length < 5)) {
          members.push(
            await startMember({ broker: broker.url, service: service.url, name: `m${number}`, concurrency }),
          );
        } else if (choice < 0.5) {
          await member.pause(); // a request that it cut off would still be counted, in a place that is free
          await member.leave();
          members.splice(members.indexOf(member), 1);
        } else if (choice < 0.7 && !isPaused.has(member)) {
          isPaused.add(member);
          await member.pause();
        } else {
          for (const one of isPaused) one.goOn();
          isPaused.clear();
        }
        await delay(random() * 1_000);
      };
      for (let number = 0; number < 24; number++) {
        if (number % 8 === 7) await pick(random, faults)(broker, pick(random, times));
        await step(number);
      }
      for (const one of isPaused) one.goOn();
      const before = new Map(members.map((member) => [member, member.answered()]));
      const haveGoneOn = () => members.every((member) => member.answered() > (before.get(member) ?? 0) + 5);
      await vi.waitFor(() => expect(haveGoneOn()).toBe(true), { timeout: longestWait });
      expect(service.most()).toBeLessThanOrEqual(concurrency);
    },
    120_000,
  );
});
