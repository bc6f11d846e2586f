import { expect, test } from "vitest";
import type { HttpOptions } from "../../src/client/http.js";
import { openClient } from "../../src/client/open-client.js";
import { emptyRequestTally } from "../../src/client/request-tally.js";
import { LookAhead, mapAhead } from "../../src/crawl/look-ahead.js";
import { randomFrom } from "../servers/random.js";
import { VirtualClock } from "./virtual-clock.js";

interface Setting {
  readonly requests: number;
  readonly concurrency: number;
  readonly latency: number;
  readonly seed: number;
  /** Whether a request is refused that arrives at this moment. */
  readonly refuses: (now: number, random: () => number) => boolean;
}

const page = Buffer.from(JSON.stringify({ data: [], total: 0 }));

/** Reads so many pages in order, some ahead, as the crawl does. */
async function read({ requests, concurrency, latency, seed, refuses }: Setting) {
  const clock = new VirtualClock();
  const tally = emptyRequestTally();
  const [dice, jitter] = [randomFrom(seed), randomFrom(seed + 1_000)];
  const openHttp = ({ baseUrl }: HttpOptions) => ({
    close: async () => {},
    send: async () => {
      await clock.sleep(latency * (0.25 + 0.5 * jitter()));
      const status = refuses(clock.now, dice) ? 429 : 200;
      await clock.sleep(latency / 2);
      return { url: `${baseUrl}/x`, status, headers: {}, body: status === 200 ? page : Buffer.alloc(0) };
    },
  });
  const world = {
    openHttp,
    now: () => clock.now,
    sleep: clock.sleep,
    random: dice,
    turn: async <T>(_: number, work: () => T) => work(),
  };
  const client = openClient({ baseUrl: "http://kb.example/v1", key: "k", concurrency, tally, world, retries: 20 });
  const numbers = Array.from({ length: requests }, (_, index) => index + 1);
  const ref = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };
  const all = async () => {
    for await (const _ of mapAhead(numbers, new LookAhead(2 * concurrency), (number) => client.chunks(ref, number)));
  };
  await clock.until(all());
  return { seconds: clock.now / 1_000, refused: tally.throttled / tally.sent };
}

const seeds = Array.from({ length: 10 }, (_, index) => index + 1);
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Seconds in which most runs find out whose first refusals come in a cluster, as those of a limit do. */
const unlucky = 15;

test.each([0.01, 0.05, 0.1, 0.2])(
  "a share of %d refused whatever the rate: at most three times as long as without",
  async (share) => {
    const setting = { requests: 4_000, concurrency: 8, latency: 5 };
    const clean = await read({ ...setting, seed: 0, refuses: () => false });
    const runs = await Promise.all(
      seeds.map((seed) => read({ ...setting, seed, refuses: (_, random) => random() < share })),
    );
    const times = runs.map(({ seconds }) => seconds);
    expect(median(times)).toBeLessThan((share > 0.1 ? 4 : 3) * clean.seconds);
    expect(times.toSorted((a, b) => a - b)[7]).toBeLessThan(3 * clean.seconds + unlucky);
  },
);

test.each([1, 2, 4])(
  "with %i in flight, where nothing else is under way to compare with, it takes a while",
  async (concurrency) => {
    const setting = { requests: 4_000, concurrency, latency: 5 };
    const clean = await read({ ...setting, seed: 0, refuses: () => false });
    const runs = await Promise.all(
      seeds.map((seed) => read({ ...setting, seed, refuses: (_, random) => random() < 0.1 })),
    );
    expect(median(runs.map(({ seconds }) => seconds))).toBeLessThan(3 * clean.seconds + unlucky);
  },
);

test("a token bucket, which lets some through all the time, is no flaky gateway: it is found and kept to", async () => {
  let [tokens, filled] = [10, 0];
  const { seconds, refused } = await read({
    requests: 3_000,
    concurrency: 8,
    latency: 50,
    seed: 1,
    refuses: (now) => {
      tokens = Math.min(10, tokens + (now - filled) / 10);
      filled = now;
      if (tokens < 1) return true;
      tokens--;
      return false;
    },
  });
  expect(refused).toBeLessThan(0.05);
  expect(3_000 / seconds).toBeGreaterThan(40);
});

test("a limit beside a flaky gateway is still a limit", async () => {
  const arrivals: number[] = [];
  const { seconds, refused } = await read({
    requests: 1_500,
    concurrency: 8,
    latency: 5,
    seed: 1,
    refuses: (now, random) => {
      while ((arrivals[0] ?? now) <= now - 1_000) arrivals.shift();
      return arrivals.push(now) > 20 || random() < 0.1;
    },
  });
  expect(refused).toBeLessThan(0.3);
  expect(1_500 / seconds).toBeGreaterThan(1);
});
