import { hash } from "node:crypto";

/** Numbers from 0 up to, not including, 1. */
export type Random = () => number;

/** A sequence that is the same for the same seed on every machine (mulberry32). Good for sample data, not for secrets. */
export function randomFrom(seed: string): Random {
  let state = hash("sha256", seed, "buffer").readUInt32LE();
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from `least` to `most`, both included. */
export function wholeFrom(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** One of the items; throws when there is none. */
export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}
