import fc from "fast-check";
import { expect, test } from "vitest";
import { FaultSearch } from "../../../src/restore/copy/copy-rows.js";

/**
 * Adds chunks to a service that fails every request with a faulty chunk in it. Returns which chunks were added, which were given up,
 * and how large each request was.
 */
function play(chunks: number, faulty: ReadonlySet<number>, size: number, mayPass = false) {
  const search = new FaultSearch();
  const added: number[] = [];
  const givenUp: number[] = [];
  const requests: number[] = [];
  for (let next = 0; next < chunks; ) {
    const count = Math.min(size, search.most(next), chunks - next);
    const numbers = Array.from({ length: count }, (_, at) => next + at);
    requests.push(count);
    if (!numbers.some((number) => faulty.has(number))) {
      added.push(...numbers);
      next += count;
      search.added();
    } else if (search.failed(next, count, mayPass) === "give up") givenUp.push(next++);
  }
  return { added, givenUp, requests };
}

test("one faulty chunk of many is found by halving, and then the requests are large again", () => {
  const { givenUp, requests } = play(96, new Set([21]), 32);
  expect(givenUp).toEqual([21]);
  expect(requests).toEqual([32, 16, 8, 4, 2, 1, 1, 32, 32, 10]);
});

test("a chunk that may succeed later is sent three times, by itself", () => {
  expect(play(3, new Set([1]), 1, true).requests).toEqual([1, 1, 1, 1, 1]);
  expect(play(3, new Set([1]), 1, false).requests).toEqual([1, 1, 1]);
});

test("exactly the faulty chunks are given up, all others are added in order, in few requests", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.uniqueArray(fc.nat(299), { maxLength: 5 }),
      fc.integer({ min: 1, max: 200 }),
      fc.boolean(),
      (chunks, numbers, size, mayPass) => {
        const faulty = new Set(numbers.filter((number) => number < chunks));
        const { added, givenUp, requests } = play(chunks, faulty, size, mayPass);
        const all = Array.from({ length: chunks }, (_, number) => number);
        expect(givenUp).toEqual(all.filter((number) => faulty.has(number)));
        expect(added).toEqual(all.filter((number) => !faulty.has(number)));
        const halvings = Math.ceil(Math.log2(size + 1));
        expect(requests.length).toBeLessThanOrEqual(Math.ceil(chunks / size) + faulty.size * (halvings + 5));
      },
    ),
  );
});
