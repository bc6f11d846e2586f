import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { mapAhead, Prefetch } from "../../src/crawl/prefetch.js";

/** Waits for `count` turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Takes every remaining permit and returns their number. */
function permitsOf(prefetch: Prefetch): number {
  let permits = 0;
  while (prefetch.take()) permits++;
  return permits;
}

/** Collects unhandled rejections during the test. */
function unhandled(): unknown[] {
  const reasons: unknown[] = [];
  const listener = (reason: unknown) => reasons.push(reason);
  process.on("unhandledRejection", listener);
  onTestFinished(() => void process.off("unhandledRejection", listener));
  return reasons;
}

const delays = fc.array(fc.nat({ max: 4 }), { maxLength: 25 });
const permitCounts = fc.nat({ max: 6 });

describe("mapAhead", () => {
  it("keeps the order, maps every item once, and returns all permits, whatever the delays", async () => {
    await fc.assert(
      fc.asyncProperty(delays, permitCounts, fc.nat({ max: 3 }), async (items, permits, slowness) => {
        const prefetch = new Prefetch(permits);
        const mapped: number[] = [];
        const got: number[] = [];
        const map = async ([index, delay]: [number, number]) => {
          mapped.push(index);
          await turns(delay);
          return index;
        };
        for await (const index of mapAhead(items.entries(), prefetch, map)) {
          got.push(index);
          await turns(slowness);
        }
        expect(got).toEqual(items.map((_, index) => index));
        expect(mapped).toEqual(got);
        expect(permitsOf(prefetch)).toBe(permits);
      }),
      { numRuns: 200 },
    );
  });

  it("never holds more than the permits plus one item per list, over all lists", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(delays, { minLength: 1, maxLength: 5 }), permitCounts, async (lists, permits) => {
        const prefetch = new Prefetch(permits);
        let [outstanding, most] = [0, 0];
        const map = async (delay: number) => {
          most = Math.max(most, ++outstanding);
          await turns(delay);
        };
        const work = async (items: number[]) => {
          for await (const _ of mapAhead(items, prefetch, map)) {
            await turns(items.length % 3);
            outstanding--;
          }
        };
        await Promise.all(lists.map(work));
        expect(most).toBeLessThanOrEqual(permits + lists.length);
        expect(permitsOf(prefetch)).toBe(permits);
      }),
      { numRuns: 200 },
    );
  });

  it.each([0, 1, 7])("really has that many under way: %i permits", async (permits) => {
    let started = 0;
    const never = async () => {
      started++;
      return new Promise<never>(() => {});
    };
    void mapAhead(Array(100).keys(), new Prefetch(permits), never).next();
    await turns(2);
    expect(started).toBe(permits + 1);
  });

  it("starts the next items with returned permits before its consumer handles the current one", async () => {
    const prefetch = new Prefetch(1);
    expect(prefetch.take()).toBe(true);
    let started = 0;
    const list = mapAhead([1, 2, 3], prefetch, async () => {
      started++;
      await turns(2);
    });
    const first = list.next();
    await turns(1);
    expect(started).toBe(1);
    prefetch.giveBack();
    await first;
    expect(started).toBe(2);
  });

  it("reads no further in an endless list than it may", async () => {
    let read = 0;
    function* endless() {
      for (;;) yield read++;
    }
    const got: number[] = [];
    for await (const item of mapAhead(endless(), new Prefetch(3), async (item) => item)) {
      got.push(item);
      if (got.length === 10) break;
    }
    expect(got).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(read).toBeLessThanOrEqual(10 + 3);
  });

  it("returns all permits when its consumer stops early", async () => {
    const reasons = unhandled();
    await fc.assert(
      fc.asyncProperty(delays, permitCounts, fc.nat({ max: 25 }), async (items, permits, stopAt) => {
        const prefetch = new Prefetch(permits);
        let got = 0;
        const late = async (delay: number) => {
          await turns(delay);
          if (delay > 2) throw new Error("seen by nobody, or by the consumer");
        };
        try {
          for await (const _ of mapAhead(items, prefetch, late)) if (got++ === stopAt) break;
        } catch {}
        await turns(6);
        expect(permitsOf(prefetch)).toBe(permits);
      }),
      { numRuns: 200 },
    );
    expect(reasons).toEqual([]);
  });

  it.each([
    ["rejects", async (item: number) => (item === 3 ? Promise.reject(new Error("third")) : item)],
    [
      "throws",
      (item: number) => {
        if (item === 3) throw new Error("third");
        return Promise.resolve(item);
      },
    ],
  ])("says that an item failed in its turn, and gives all permits back: map %s", async (_, map) => {
    const prefetch = new Prefetch(4);
    const got: number[] = [];
    const read = async () => {
      for await (const item of mapAhead([1, 2, 3, 4, 5, 6, 7, 8], prefetch, map)) got.push(item);
    };
    await expect(read()).rejects.toThrow("third");
    expect(got).toEqual([1, 2]);
    expect(permitsOf(prefetch)).toBe(4);
  });

  it("leaves no rejection unhandled, whether an item fails too early or is never awaited", async () => {
    const reasons = unhandled();
    const map = async (item: number) => {
      await turns(item === 0 ? 5 : 0);
      if (item > 0) throw new Error(`item ${item}`);
      return item;
    };
    const list = mapAhead([0, 1, 2, 3, 4], new Prefetch(9), map);
    await list.next();
    await turns(3);
    await expect(list.next()).rejects.toThrow("item 1");
    await turns(3);
    expect(reasons).toEqual([]);
  });

  it("never deadlocks, even with few permits and many nested lists", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat({ max: 4 }), { maxLength: 6 }), { minLength: 1, maxLength: 12 }),
        fc.nat({ max: 2 }),
        async (lists, permits) => {
          const prefetch = new Prefetch(permits);
          const wait = async (delay: number) => {
            await turns(delay);
            return delay;
          };
          const work = async (items: number[]) => {
            const got: number[] = [];
            for await (const item of mapAhead(items, prefetch, wait)) {
              got.push(item);
              for await (const inner of mapAhead(Array<number>(item).fill(1), prefetch, wait)) got.push(-inner);
            }
            return got;
          };
          const expected = lists.map((items) => items.flatMap((item) => [item, ...Array<number>(item).fill(-1)]));
          expect(await Promise.all(lists.map(work))).toEqual(expected);
          expect(permitsOf(prefetch)).toBe(permits);
        },
      ),
      { numRuns: 100 },
    );
  });
});
