import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RetryOptions, retryDelay, retrying } from "../../src/client/retry.js";
import { GaveUpError, RetryError, SkipError, StopError } from "../../src/errors.js";
import { rejection } from "./open-test-http.js";

describe("retryDelay", () => {
  it.each([
    [1, undefined, 0, 0],
    [1, undefined, 0.5, 250],
    [1, undefined, 1, 500],
    [2, undefined, 1, 1_000],
    [3, undefined, 1, 2_000],
    [6, undefined, 1, 16_000],
    [7, undefined, 1, 30_000],
    [2_000, undefined, 1, 30_000],
    [1, 0, 0, 0],
    [9, 0, 1, 250],
    [1, 7_000, 0, 7_000],
    [9, 7_000, 0.5, 7_125],
    [1, 600_000, 0, 600_000],
    [1, 86_400_000, 0, 600_000],
    [1, Number.POSITIVE_INFINITY, 0, 600_000],
  ])("after try %i, asked for %s ms, random %d: %d ms", (tries, asked, random, expected) => {
    expect(retryDelay(tries, asked, random)).toBe(expected);
  });

  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it("of our own choice lies from 0 to the bound of that try, which doubles up to 30 s", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), random, (tries, dice) => {
        const wait = retryDelay(tries, undefined, dice);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(Math.min(30_000, 500 * 2 ** (tries - 1)));
      }),
    );
  });

  it("is never shorter than the service asks, up to ten minutes, and hardly longer", () => {
    const asked = fc.double({ min: 0, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), asked, random, (tries, milliseconds, dice) => {
        const wait = retryDelay(tries, milliseconds, dice);
        expect(wait).toBeGreaterThanOrEqual(Math.min(milliseconds, 600_000));
        expect(wait).toBeLessThanOrEqual(Math.min(milliseconds, 600_000) + 250);
      }),
    );
  });
});

/** Options that wait no real time; records the waits in `waits` and the retries in `reported`. */
function options(retries: number, more: Partial<RetryOptions> = {}) {
  const waits: number[] = [];
  const reported: (string | number)[][] = [];
  const { signal } = new AbortController();
  const sleep = async (milliseconds: number) => waits.push(milliseconds);
  const onRetry: RetryOptions["onRetry"] = (error, wait) => reported.push([error.message, wait]);
  return { waits, reported, options: { retries, signal, onRetry, sleep, random: () => 0.5, ...more } };
}

/** Throws these errors in turn, then returns "done". */
function failing(...errors: Error[]) {
  const read = async () => {
    read.tries++;
    const error = errors[read.tries - 1];
    if (error) throw error;
    return "done";
  };
  read.tries = 0;
  return read;
}

describe("retrying", () => {
  it("a refusal that shows a limit counts as a try each time", async () => {
    const read = failing(...Array<Error>(99).fill(new RetryError("429", { status: 429, throttled: true })));
    const error = await rejection(retrying(read, { ...options(2).options, isPaused: () => true }));
    expect(error).toMatchObject({ message: "429 (3 tries)" });
    expect(read.tries).toBe(3);
  });

  it.each([
    ["without Retry-After is sent again up to three times, which counts as one try", undefined, 4 * 3],
    ["with Retry-After counts as a try each time", 1_000, 3],
  ])("a refusal %s", async (_, retryAfter, sent) => {
    const refusal = new RetryError("429", { status: 429, throttled: true, ...(retryAfter ? { retryAfter } : {}) });
    const read = failing(...Array<Error>(99).fill(refusal));
    const error = await rejection(retrying(read, options(2).options));
    expect(error).toMatchObject({ message: "429 (3 tries)" });
    expect(read.tries).toBe(sent);
  });

  it("reads again after every RetryError, waiting longer each time, and reports it before the wait", async () => {
    const read = failing(new RetryError("one"), new RetryError("two", { retryAfter: 3_000 }), new RetryError("three"));
    const { waits, reported, options: given } = options(3);
    expect(await retrying(read, given)).toBe("done");
    expect(read.tries).toBe(4);
    expect(waits).toEqual([250, 3_125, 1_000]);
    expect(reported).toEqual([
      ["one", 250],
      ["two", 3_125],
      ["three", 1_000],
    ]);
  });

  it.each([
    [0, "last (1 try)"],
    [1, "last (2 tries)"],
    [6, "last (7 tries)"],
  ])("gives up after %i retries with the last reason", async (retries, message) => {
    const last = new RetryError("last", { status: 503, code: "busy" });
    const read = failing(...Array.from({ length: retries }, () => new RetryError("earlier")), last, last);
    const { waits, options: given } = options(retries);
    const error = await rejection(retrying(read, given));
    expect(error).toBeInstanceOf(GaveUpError);
    expect(error).toBeInstanceOf(SkipError);
    expect(error).toMatchObject({ message, status: 503, code: "busy", last, cause: last });
    expect(read.tries).toBe(retries + 1);
    expect(waits).toHaveLength(retries);
  });

  it.each([new StopError("stop"), new SkipError("skip"), new TypeError("bug")])(
    "%s passes through at once",
    async (error) => {
      const read = failing(error);
      expect(await rejection(retrying(read, options(6).options))).toBe(error);
      expect(read.tries).toBe(1);
    },
  );

  it("a wait ends at once with the reason of the signal, and nothing is read again", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const read = failing(new RetryError("later", { retryAfter: 600_000 }));
    const onRetry = () => setImmediate(() => controller.abort(reason));
    const retried = retrying(read, { retries: 6, signal: controller.signal, onRetry });
    const start = performance.now();
    expect(await rejection(retried)).toBe(reason);
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(read.tries).toBe(1);
  });

  it("waits in real time by default", async () => {
    const read = failing(new RetryError("later", { retryAfter: 100 }));
    const { signal } = new AbortController();
    const start = performance.now();
    await retrying(read, { retries: 1, signal, onRetry: () => {}, random: () => 0 });
    expect(performance.now() - start).toBeGreaterThan(95);
  });
});
