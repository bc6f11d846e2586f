import { expect, test } from "vitest";
import { type HttpOptions, openClient } from "../../../src/client/open-client.js";
import type { Request } from "../../../src/client/send.js";
import { mapAhead, Prefetch } from "../../../src/crawl/prefetch.js";
import { rounds } from "../../rounds.js";
import { randomFrom } from "../../servers/random.js";
import { VirtualClock } from "../virtual-clock.js";

type Serve = (request: Request, connection: number) => Promise<void>;
/** `closeAll`: the client closes all connections that are idle. */
type Service = (clock: VirtualClock, random: () => number) => Serve & { readonly closeAll?: () => void };

const body = Buffer.from(JSON.stringify({ data: [], total: 0 }));

/**
 * Reads the lists in turn, in order and some pages ahead, over connections of which the first free one is used, as undici
 * does. Gives the seconds it took, the lines that were reported, and the mean number in flight over the last third.
 */
async function read(service: Service, concurrency: number, lists: readonly number[], seed = 1) {
  const clock = new VirtualClock();
  const random = randomFrom(seed);
  const serve = service(clock, random);
  const busy = new Set<number>();
  const reported: string[] = [];
  let [most, mostLate, sent, reportedAt] = [0, 0, 0, 0];
  const all = lists.reduce((sum, pages) => sum + pages, 0);
  const openHttp = ({ baseUrl }: HttpOptions) => ({
    close: async () => {},
    keepTo: () => serve.closeAll?.(),
    send: async (request: Request) => {
      let connection = 0;
      while (busy.has(connection)) connection++;
      busy.add(connection);
      sent++;
      most = Math.max(most, busy.size);
      if (sent > 0.9 * all) mostLate = Math.max(mostLate, busy.size);
      await serve(request, connection);
      busy.delete(connection);
      return { url: `${baseUrl}/x`, status: 200, headers: {}, body };
    },
  });
  const client = openClient({
    baseUrl: "http://kb.example/v1",
    key: "k",
    concurrency,
    say: (text) => {
      reported.push(text);
      reportedAt = clock.now / 1_000;
    },
    environment: { openHttp, now: () => clock.now, sleep: clock.sleep, random, turn: async (_, work) => work() },
  });
  const prefetch = new Prefetch(2 * concurrency);
  const crawl = async () => {
    for (const [index, pages] of lists.entries()) {
      const ref = { datasetId: "set", documentId: String(index), status: [], keyword: undefined };
      const numbers = Array.from({ length: pages }, (_, page) => page + 1);
      for await (const _ of mapAhead(numbers, prefetch, (page) => client.chunks(ref, page)));
    }
  };
  await clock.until(crawl());
  return { seconds: clock.now / 1_000, reported, reportedAt, most, mostLate };
}

/** So many connections are served; one more waits until another one has been idle for 2 s. */
const tenConnections =
  (workers: number, latency: number): Service =>
  (clock) => {
    const held = new Map<number, { busy: boolean; idleSince: number }>();
    const waiting: (() => void)[] = [];
    const letGo = async (connection: number) => {
      const mine = { busy: false, idleSince: clock.now };
      held.set(connection, mine);
      await clock.sleep(2_000);
      if (held.get(connection) === mine) free(connection);
    };
    let era = 0;
    const free = (connection: number) => {
      held.delete(connection);
      waiting.shift()?.();
    };
    const closeAll = () => {
      era++;
      for (const [connection, { busy }] of held) if (!busy) free(connection);
    };
    const serve: Serve = async (_, connection) => {
      if (!held.has(connection)) {
        if (held.size >= workers) await new Promise<void>((resolve) => waiting.push(resolve));
      }
      held.set(connection, { busy: true, idleSince: 0 });
      const begun = era;
      await clock.sleep(latency);
      if (begun === era) void letGo(connection);
      else free(connection);
    };
    return Object.assign(serve, { closeAll });
  };

const plain =
  (latency: number): Service =>
  (clock) =>
  () =>
    clock.sleep(latency);

test.each([
  [11, 10],
  [12, 10],
  [16, 10],
  [32, 10],
])(
  "a service with 10 connections, asked with %i: goes on with %i, says so once, and is faster by far",
  async (many, fewer) => {
    const lists = Array.from({ length: many > 20 ? 160 : 80 }, () => 60);
    const [right, wrong] = [
      await read(tenConnections(10, 100), 10, lists),
      await read(tenConnections(10, 100), many, lists),
    ];
    expect(right.reported).toEqual([]);
    expect(wrong.reported).toEqual([
      `${many} requests in flight were slower than ${fewer}: going on with ${fewer}; set service.concurrency to ${fewer}`,
    ]);
    expect(wrong.mostLate).toBe(fewer);
    expect(wrong.seconds).toBeLessThan(right.seconds + 60); // six times as long without
    expect(wrong.reportedAt).toBeLessThan(many > 20 ? 75 : 45);
  },
);

const harmless: readonly (readonly [string, Service])[] = [
  ["plain latency", plain(100)],
  ["random latency", (clock, random) => () => clock.sleep(10 + 400 * random())],
  ["a long tail", (clock, random) => () => clock.sleep(random() < 0.02 ? 3_000 : 50)],
  [
    "slow pages late in a document",
    (clock) =>
      ({ query }) =>
        clock.sleep(20 * Number(query[0]?.[1])),
  ],
  [
    "documents of large and of small pages",
    (clock) =>
      ({ path }) =>
        clock.sleep(/[13579]\/seg/.test(path) ? 1_500 : 60),
  ],
  [
    "one worker, which is busy all the time",
    (clock) => {
      let free = 0;
      return () => {
        free = Math.max(free, clock.now) + 25;
        return clock.sleep(free - clock.now);
      };
    },
  ],
];

test.each(harmless)("%s: nothing is given back for long", async (_, service) => {
  for (let seed = 1; seed <= rounds(1, 6); seed++) {
    const { reported, mostLate } = await read(
      service,
      8,
      Array.from({ length: 60 }, (_, index) => 20 + (index % 5) * 15),
      seed,
    );
    expect(reported).toEqual([]);
    expect(mostLate).toBe(8);
  }
});

test("the trial costs a service that gets more done with more in flight next to nothing", async () => {
  const { seconds } = await read(plain(50), 16, [16_000]);
  expect(seconds).toBeLessThan(1.02 * 50);
});

test("a service that is as quick as ever with all in flight is never asked with fewer", async () => {
  const { seconds, reported } = await read(plain(50), 8, [1_000]);
  expect(seconds).toBeLessThan(1.02 * (1_000 / 8) * 0.05);
  expect(reported).toEqual([]);
});
