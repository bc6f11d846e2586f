import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, test } from "vitest";
import { sliceScheduler } from "../../src/client/open-client.js";
import { openTestHttp } from "./open-test-http.js";
import { json, serve } from "./serve.js";

test("bodies are processed in order, few per turn of the event loop, and a large one by itself", async () => {
  let turn = 0;
  const count = () => {
    turn++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const take = sliceScheduler();
  const begun: string[] = [];
  const sizes = [30_000, 30_000, 30_000, 100_000, 1];
  await Promise.all(sizes.map((bytes) => take(bytes, () => begun.push(`${bytes} in turn ${turn}`))));
  clearImmediate(counting);
  expect(begun).toEqual(["30000 in turn 2", "30000 in turn 2", "30000 in turn 3", "100000 in turn 4", "1 in turn 5"]);
});

test("the next request of a connection is sent before an answer is worked on", async () => {
  const { url } = await serve(json({}));
  const { get } = openTestHttp(url, { connections: 1 });
  const take = sliceScheduler();
  const order: string[] = [];
  const noteSent = (message: unknown) => order.push(`sent ${(message as { request: { path: string } }).request.path}`);
  subscribe("undici:client:sendHeaders", noteSent);
  const read = async (path: string) => {
    const { body } = await get(path);
    await take(body.length, () => order.push(`worked on ${path}`));
  };
  await Promise.all(["/1", "/2", "/3"].map(read));
  unsubscribe("undici:client:sendHeaders", noteSent);
  expect(order.slice(0, 3)).toEqual(["sent /v1/1", "sent /v1/2", "worked on /1"]);
  expect(order).toHaveLength(6);
});

test("an answer is worked on only once the sockets that have one are read", async () => {
  const take = sliceScheduler();
  const order: string[] = [];
  const worked = take(1, () => order.push("worked"));
  process.nextTick(() => order.push("read")); // like a socket whose bytes arrived at the same time
  await worked;
  expect(order).toEqual(["read", "worked"]);
});

test("work that fails rejects, and the rest continues", async () => {
  const take = sliceScheduler();
  const failing = take(1, () => {
    throw new Error("no JSON");
  });
  const outcomes = await Promise.allSettled([failing, take(1, () => "fine")]);
  expect(outcomes).toMatchObject([{ reason: new Error("no JSON") }, { value: "fine" }]);
});
