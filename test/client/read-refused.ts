import { type HttpOptions, openClient } from "../../src/client/open-client.js";
import { RequestCounts } from "../../src/client/request-counts.js";
import { mapAhead, Prefetch } from "../../src/crawl/prefetch.js";
import { randomFrom } from "../servers/random.js";
import { VirtualClock } from "./virtual-clock.js";

/** Whether the service refuses a request that arrives at this millisecond. A string is the Retry-After header of the refusal. */
export type Refuses = (now: number, random: () => number) => boolean | string;

export interface Conditions {
  readonly requests: number;
  readonly concurrency: number;
  readonly latency: number;
  readonly seed: number;
  readonly refuses: Refuses;
  /** 200 by default, enough to get every page. */
  readonly retries?: number;
  readonly maxRps?: number | undefined;
}

const page = Buffer.from(JSON.stringify({ data: [], total: 0 }));

/** Reads the pages in order with prefetch, as the crawl does, from a service in virtual time that refuses some requests. */
export async function readRefused({ requests, latency, seed, refuses, retries = 200, ...bounds }: Conditions) {
  const clock = new VirtualClock();
  const progress = new RequestCounts();
  const [dice, jitter, random] = [randomFrom(seed), randomFrom(seed + 1_000), randomFrom(seed + 2_000)];
  const sentAt: number[] = [];
  const openHttp = ({ baseUrl }: HttpOptions) => ({
    close: async () => {},
    send: async () => {
      sentAt.push(clock.now);
      await clock.sleep(latency * (0.25 + 0.5 * jitter()));
      const refusal = refuses(clock.now, dice);
      await clock.sleep(latency / 2);
      const headers = typeof refusal === "string" ? { "retry-after": refusal } : {};
      const answer = refusal === false ? { status: 200, body: page } : { status: 429, body: Buffer.alloc(0) };
      return { url: `${baseUrl}/x`, headers, ...answer };
    },
  });
  const environment = {
    openHttp,
    now: () => clock.now,
    sleep: clock.sleep,
    random,
    turn: async <T>(_: number, work: () => T) => work(),
  };
  const client = openClient({ baseUrl: "http://kb.example/v1", key: "k", ...bounds, progress, environment, retries });
  const numbers = Array.from({ length: requests }, (_, index) => index + 1);
  const ref = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };
  const all = async () => {
    for await (const _ of mapAhead(numbers, new Prefetch(2 * bounds.concurrency), (number) =>
      client.chunks(ref, number),
    ));
  };
  await clock.until(all());
  return { seconds: clock.now / 1_000, refused: progress.throttled, sent: progress.sent, progress, sentAt };
}

/** Refuses a random share of all requests, at any rate. */
export const chance =
  (share: number): Refuses =>
  (_, random) =>
    random() < share;

/** Allows `most` requests in any window; refused requests count too. */
export function slidingWindow(most: number, window = 1_000): Refuses {
  const arrivals: number[] = [];
  return (now) => {
    while ((arrivals[0] ?? now) <= now - window) arrivals.shift();
    return arrivals.push(now) > most;
  };
}

/** Allows `most` requests in each fixed window. */
export function fixedWindow(most: number, window = 1_000): Refuses {
  let [current, arrivals] = [-1, 0];
  return (now) => {
    const here = Math.floor(now / window);
    arrivals = here === current ? arrivals + 1 : 1;
    current = here;
    return arrivals > most;
  };
}

/** Refills `perSecond` tokens a second; holds at most `burst`. */
export function tokenBucket(perSecond: number, burst = Math.max(1, perSecond / 2)): Refuses {
  let [tokens, filled] = [burst, 0];
  return (now) => {
    tokens = Math.min(burst, tokens + ((now - filled) * perSecond) / 1_000);
    filled = now;
    if (tokens < 1) return true;
    tokens--;
    return false;
  };
}
