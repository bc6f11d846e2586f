import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { InFlightBound } from "../../src/client/in-flight.js";
import { Pace } from "../../src/client/pace.js";
import { paced } from "../../src/client/paced.js";
import type { Answer, Request } from "../../src/client/send.js";

const answer: Answer = { url: "http://a.example/", status: 200, headers: {}, body: new Uint8Array() };
const requestOf = (path: string): Request => ({ path, query: [] });
const refusal = ({ status }: Answer) => (status === 429 ? { retryAfter: 100 } : undefined);

test.each([1, 3, 64])("lets %i requests be in flight, never more, in the order they came", async (concurrency) => {
  let [inFlight, most] = [0, 0];
  const begun: string[] = [];
  const options = {
    bound: new InFlightBound(concurrency),
    pace: new Pace(),
    signal: new AbortController().signal,
    refusal,
  };
  const send = paced(async ({ path }) => {
    begun.push(path);
    most = Math.max(most, ++inFlight);
    await sleep(Math.random() * 3);
    inFlight--;
    if (Number(path) % 4 === 0) throw new Error(path);
    return answer;
  }, options);
  const paths = Array.from({ length: 200 }, (_, index) => String(index));
  const outcomes = await Promise.allSettled(paths.map((path) => send(requestOf(path))));
  expect(most).toBe(concurrency);
  expect(begun).toEqual(paths);
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(50);
});

test("one refusal slows everybody down: the pause is kept, and fewer are in flight behind it", async () => {
  const sent: number[] = [];
  let [inFlight, mostAfter] = [0, 0];
  const options = { bound: new InFlightBound(8), pace: new Pace(), signal: new AbortController().signal, refusal };
  const send = paced(async () => {
    const number = sent.push(performance.now());
    inFlight++;
    if (number > 8) mostAfter = Math.max(mostAfter, inFlight);
    await sleep(number === 1 ? 1 : 10);
    inFlight--;
    return number === 1 ? { ...answer, status: 429 } : answer;
  }, options);
  await Promise.all(Array.from({ length: 14 }, (_, index) => send(requestOf(String(index)))));
  expect((sent[8] ?? 0) - (sent[0] ?? 0)).toBeGreaterThan(95);
  expect(mostAfter).toBeLessThanOrEqual(5);
});

test("a refusal by chance costs nobody a pause: its request is sent again from its slot, at most four times in all", async () => {
  const byPath = new Map<string, number>();
  const again: Answer[] = [];
  const send = paced(
    async ({ path }) => {
      byPath.set(path, (byPath.get(path) ?? 0) + 1);
      await sleep(2);
      return path === "3" || (path === "5" && byPath.get("5") === 1) ? { ...answer, status: 429 } : answer;
    },
    {
      bound: new InFlightBound(4),
      pace: new Pace(),
      signal: new AbortController().signal,
      refusal: ({ status }) => (status === 429 ? { retryAfter: undefined } : undefined),
      onAgain: (refused) => again.push(refused),
    },
  );
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => send(requestOf(String(index)))));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
  expect(again).toHaveLength(4);
  expect([byPath.get("3"), byPath.get("5")]).toEqual([4, 2]);
  expect(performance.now() - begun).toBeLessThan(900);
});

test("a wait ends at once with the reason of the signal", async () => {
  const stop = new AbortController();
  const send = paced(async () => answer, {
    bound: new InFlightBound(1),
    pace: new Pace(0.01),
    signal: stop.signal,
    refusal,
  });
  await send(requestOf("1"));
  const waiting = send(requestOf("2"));
  const reason = new Error("enough");
  setTimeout(() => stop.abort(reason), 10);
  await expect(waiting).rejects.toBe(reason);
});
