import { expect, test } from "vitest";
import { takingTurns } from "../../src/client/taking-turns.js";

test("bodies are worked on in their order, few per turn of the event loop, and a large one alone", async () => {
  let turn = 0;
  const count = () => {
    turn++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const take = takingTurns();
  const begun: string[] = [];
  const sizes = [30_000, 30_000, 30_000, 100_000, 1];
  await Promise.all(sizes.map((bytes) => take(bytes, () => begun.push(`${bytes} in turn ${turn}`))));
  clearImmediate(counting);
  expect(begun).toEqual(["30000 in turn 1", "30000 in turn 1", "30000 in turn 2", "100000 in turn 3", "1 in turn 4"]);
});

test("an answer is worked on only once the sockets that have one are read", async () => {
  const take = takingTurns();
  const order: string[] = [];
  const worked = take(1, () => order.push("worked"));
  process.nextTick(() => order.push("read")); // as a socket is whose bytes came with the others
  await worked;
  expect(order).toEqual(["read", "worked"]);
});

test("work that fails rejects, and the others go on", async () => {
  const take = takingTurns();
  const failing = take(1, () => {
    throw new Error("no JSON");
  });
  const outcomes = await Promise.allSettled([failing, take(1, () => "fine")]);
  expect(outcomes).toMatchObject([{ reason: new Error("no JSON") }, { value: "fine" }]);
});
