import { expect, test } from "vitest";
import { InFlightBound } from "../../src/client/in-flight.js";

const answer = (bound: InFlightBound, times: number, latency = 10, kind = "pages") => {
  for (let time = 0; time < times; time++) bound.answered(kind, latency);
};

test("a refusal halves it, down to 1", () => {
  const bound = new InFlightBound(16);
  const values = Array.from({ length: 6 }, () => {
    bound.refused();
    return bound.value;
  });
  expect(values).toEqual([8, 4, 2, 1, 1, 1]);
});

test("good answers bring it back one by one, never above the maximum", () => {
  const bound = new InFlightBound(8);
  bound.refused();
  answer(bound, 3);
  expect(bound.value).toBe(4);
  answer(bound, 1);
  expect(bound.value).toBe(5);
  answer(bound, 5 + 6 + 7);
  expect(bound.value).toBe(8);
  answer(bound, 1000);
  expect(bound.value).toBe(8);
});

test("latency that grows with the number in flight brings it down to where it is borne", () => {
  const bound = new InFlightBound(16);
  const least = [bound.value];
  answer(bound, 5, 40);
  for (let round = 0; round < 2000; round++) {
    answer(bound, 1, bound.value > 6 ? 150 * bound.value : 40);
    least.push(bound.value);
  }
  expect(Math.min(...least)).toBeLessThanOrEqual(8);
  expect(Math.min(...least)).toBeGreaterThan(3);
});

test("latency that has grown for another reason is taken for the new normal", () => {
  const bound = new InFlightBound(16);
  answer(bound, 50, 40);
  answer(bound, 1000, 2000);
  expect(bound.value).toBe(16);
});

test("what takes long by nature is not compared with what is quick", () => {
  const bound = new InFlightBound(8);
  for (let round = 0; round < 500; round++) {
    answer(bound, 1, 5, "child lists");
    answer(bound, 1, 900, "pages");
    expect(bound.value).toBe(8);
  }
});
