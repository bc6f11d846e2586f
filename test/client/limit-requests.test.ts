import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { limitRequests } from "../../src/client/limit-requests.js";
import { Pace } from "../../src/client/pace.js";
import { type Answer, pause, type Request } from "../../src/client/retry.js";

const answer: Answer = { url: "http://a.example/", status: 200, headers: {}, body: new Uint8Array() };
const requestOf = (path: string): Request => ({ path, query: [] });
const inRealTime = { now: () => performance.now(), sleep: pause };
const refusal = ({ status }: Answer) => (status === 429 ? { retryAfter: 100 } : undefined);

test.each([1, 3, 64])("lets %i requests be in flight, never more, in the order they came", async (concurrency) => {
  let [inFlight, most] = [0, 0];
  const begun: string[] = [];
  const options = {
    ...inRealTime,
    concurrency,
    pace: new Pace(),
    signal: new AbortController().signal,
    refusal,
  };
  const send = limitRequests(async ({ path }) => {
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

test("one refusal slows all requests: they wait for the pause, and fewer are in flight after it", async () => {
  const sent: number[] = [];
  let [inFlight, mostAfter] = [0, 0];
  const options = { ...inRealTime, concurrency: 8, pace: new Pace(), signal: new AbortController().signal, refusal };
  const send = limitRequests(async () => {
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

test("the longest wait that the service asks for is announced, whatever came before", async () => {
  const announced: number[] = [];
  const pace = new Pace();
  const waits = [1_000, 60_000, 2_000];
  const stop = new AbortController();
  const send = limitRequests(async () => ({ ...answer, status: 429 }), {
    ...inRealTime,
    concurrency: 3,
    pace,
    signal: stop.signal,
    refusal: () => ({ retryAfter: waits.shift() }),
    onPause: (milliseconds) => announced.push(Math.round(milliseconds / 1_000)),
  });
  await Promise.all(["1", "2", "3"].map((path) => send(requestOf(path))));
  expect(announced.at(-1)).toBe(60);
  expect(announced).not.toContain(2);
  stop.abort();
});

test("a wait ends at once with the reason of the signal", async () => {
  const stop = new AbortController();
  const send = limitRequests(async () => answer, {
    ...inRealTime,
    concurrency: 1,
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

test("a refusal halves the requests in flight, down to 1; good answers add one at a time, up to the maximum", async () => {
  let [status, started] = [200, 0];
  let release = () => {};
  let held = Promise.resolve();
  const send = limitRequests(
    async () => {
      started++;
      await held;
      return { ...answer, status };
    },
    {
      ...inRealTime,
      concurrency: 8,
      pace: new Pace(),
      signal: new AbortController().signal,
      refusal: (got) => (got.status === 429 ? { retryAfter: 0 } : undefined),
    },
  );
  const answerOnce = async (code: number) => {
    status = code;
    await send(requestOf("a"));
  };
  /** Sends `count` requests that all succeed; returns how many were in flight at the same time. */
  const together = async (count: number) => {
    held = new Promise((resolve) => {
      release = resolve;
    });
    [status, started] = [200, 0];
    const all = Promise.all(Array.from({ length: count }, () => send(requestOf("a"))));
    await sleep(20);
    const most = started;
    held = Promise.resolve();
    release();
    await all;
    return most;
  };
  expect(await together(20)).toBe(8);
  await answerOnce(429);
  await answerOnce(200); // after a pause, the others wait for the first answer
  expect(await together(8)).toBe(4); // these make nine good answers, which raise the limit to five, then to six
  expect(await together(21)).toBe(6);
  expect(await together(100)).toBe(8);
  for (let refusal = 0; refusal < 5; refusal++) await answerOnce(429);
  await answerOnce(200);
  expect(await together(4)).toBe(2);
});
