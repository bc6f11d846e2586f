import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { bothOf } from "../../../src/report/render-report.js";

const calm = () => new AbortController().signal;

/** Works until its signal is aborted; notes how it ended. */
function endless(ends: unknown[]) {
  return (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => {
        ends.push(signal.reason);
        setTimeout(() => reject(new Error("interrupted")), 5);
      });
    });
}

test("two works go on at the same time, and give both results", async () => {
  const events: string[] = [];
  const work = (name: string) => async () => {
    events.push(`${name} begins`);
    await sleep(5);
    events.push(`${name} ends`);
    return name;
  };
  expect(await bothOf(calm(), work("one"), work("other"))).toEqual(["one", "other"]);
  expect(events.slice(0, 2)).toEqual(["one begins", "other begins"]);
});

test("an error of one ends the other, and is the error of both", async () => {
  const error = new Error("broken");
  const fails = async () => {
    await sleep(1);
    throw error;
  };
  for (const swap of [false, true]) {
    const ends: unknown[] = [];
    const [one, other] = swap ? [fails, endless(ends)] : [endless(ends), fails];
    await expect(bothOf<never, never>(calm(), one, other)).rejects.toBe(error);
    expect(ends).toEqual([error]);
  }
});

test("an interruption ends both, with its reason", async () => {
  const [stop, reason] = [new AbortController(), new Error("SIGTERM")];
  const ends: unknown[] = [];
  const both = bothOf(stop.signal, endless(ends), endless(ends));
  stop.abort(reason);
  await expect(both).rejects.toBe(reason);
  expect(ends).toEqual([reason, reason]);
});
