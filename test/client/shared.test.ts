import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { Pace } from "../../src/client/pace.js";
import type { SharedBounds } from "../../src/client/paced.js";
import { openTestClient } from "./open-test-client.js";
import { json, serve } from "./serve.js";

/** Bounds with so many places, which a test can take away. */
function openBounds(slots: number, rate = Number.POSITIVE_INFINITY) {
  const state = { rate, entered: 0, used: 0, most: 0, lost: 0, slowed: 0, paused: [] as number[] };
  const listeners: ((milliseconds: number) => void)[] = [];
  const shared: SharedBounds = {
    enter: async (signal) => {
      while (state.used >= slots) await sleep(1, undefined, { signal });
      state.most = Math.max(state.most, ++state.used);
      const number = ++state.entered;
      return { isSure: () => number > state.lost, leave: () => void state.used-- };
    },
    rate: () => state.rate,
    slowed: () => void state.slowed++,
    pause: (milliseconds) => void state.paused.push(milliseconds),
    onPause: (listener) => void listeners.push(listener),
  };
  return {
    state,
    shared,
    hear: (milliseconds: number) => listeners.forEach((listener) => void listener(milliseconds)),
  };
}

const page = { data: [], has_more: false, total: 0, page: 1, limit: 100 };

test("every request and every turn beside them is in a place, and leaves it, whatever became of it", async () => {
  const { url, requests } = await serve((request, response) => {
    if (request.url?.includes("/broken/")) response.destroy();
    else setTimeout(() => json(page)(request, response), 5);
  });
  const { shared, state } = openBounds(3);
  const client = openTestClient(url, { shared, concurrency: 8 });
  await client.documents("first", 1);
  const names = Array.from({ length: 20 }, (_, index) => (index % 5 === 0 ? "broken" : "fine"));
  await Promise.allSettled([...names.map((name) => client.documents(name, 1)), client.turn()]);
  expect([state.most, state.used, state.entered, requests.length]).toEqual([3, 0, 22, 21]);
});

test("a place that is lost before its turn came is left, and another one waited for", async () => {
  const { url, requests } = await serve(json(page));
  const { shared, state } = openBounds(1, 20);
  const client = openTestClient(url, { shared });
  await client.documents("a", 1);
  const second = client.documents("a", 1);
  await sleep(10);
  state.lost = 2;
  await second;
  expect([state.entered, state.used, requests.length]).toEqual([3, 0, 2]);
});

test("the end of a run ends the wait for a turn in a place, which is left", async () => {
  const { url } = await serve(json(page));
  const { shared, state } = openBounds(1, 0.01);
  const stop = new AbortController();
  const client = openTestClient(url, { shared, signal: stop.signal });
  await client.documents("a", 1);
  const second = client.documents("a", 1);
  await sleep(10);
  const reason = new Error("enough");
  stop.abort(reason);
  await expect(second).rejects.toBe(reason);
  expect(state.used).toBe(0);
});

test("a refusal is reported to the others, once, with the time that it asks for", async () => {
  const { url } = await serve((request, response) => {
    if (!request.url?.includes("/refused/")) return json(page)(request, response);
    return void response.writeHead(429, { "retry-after": "2" }).end();
  });
  const { shared, state } = openBounds(4);
  const client = openTestClient(url, { shared });
  await client.documents("a", 1);
  await Promise.allSettled([1, 2, 3].map((number) => client.documents("refused", number)));
  expect(state.paused).toHaveLength(1);
  expect(state.paused[0]).toBeGreaterThan(1_900);
  expect(state.paused[0]).toBeLessThanOrEqual(2_000);
});

test("the refusal of another process lets this one pause, and is not told again", async () => {
  const { url } = await serve(json(page));
  const { shared, state, hear } = openBounds(4);
  const client = openTestClient(url, { shared });
  await client.documents("a", 1);
  hear(300);
  const begun = performance.now();
  await client.documents("a", 1);
  expect(performance.now() - begun).toBeGreaterThan(290);
  expect(state.paused).toEqual([]);
});

test("the pace follows a rate that changes, says that it is slow, and never makes up for a time without places", () => {
  let rate = 10;
  const pace = new Pace(() => rate);
  expect([pace.take(0), pace.take(1)]).toEqual([0, 50]);
  expect([pace.isAtMost(1), pace.take(94), pace.take(95)]).toEqual([true, 1, 0]);
  rate = 0;
  expect([pace.take(1_000), pace.take(5_000)]).toEqual([50, 50]);
  rate = 100;
  const sent = Array.from({ length: 200 }, (_, index) => 5_000 + index).filter((now) => pace.take(now) === 0);
  expect(sent.length).toBeLessThanOrEqual(21);
  expect(sent.length).toBeGreaterThanOrEqual(19);
  pace.refused(5_300, 5_300, 400);
  expect([pace.isAtMost(5_400), pace.pauseLeft(5_400)]).toEqual([false, 300]);
});

test("a request that the rate holds back asks for a larger share of it", async () => {
  const { url } = await serve(json(page));
  const { shared, state } = openBounds(1, 2);
  const client = openTestClient(url, { shared });
  await client.documents("a", 1);
  expect(state.slowed).toBe(0);
  await client.documents("a", 1);
  await vi.waitFor(() => expect(state.slowed).toBeGreaterThan(0));
});
