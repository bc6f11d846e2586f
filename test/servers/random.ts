/** Random numbers from a seed, so that you can replay a failing test. */
export type Random = () => number;

/** Mixes a text into 32 bits (FNV-1a with a final avalanche). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A generator of numbers in [0, 1) (mulberry32). The same seed returns the same numbers. */
export function randomFrom(seed: number): Random {
  let state = hashOf(`seed ${seed}`);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from `low` to `high`, inclusive. */
export function integer(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

export function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}

/** Random lower-case hexadecimal digits, `digits` of them. */
export function hex(random: Random, digits: number): string {
  let text = "";
  while (text.length < digits) text += ((random() * 2 ** 32) >>> 0).toString(16).padStart(8, "0");
  return text.slice(0, digits);
}

export function uuid(random: Random): string {
  const h = hex(random, 32);
  const variant = "89ab"[Math.floor(random() * 4)];
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant}${h.slice(17, 20)}-${h.slice(20)}`;
}

/** A shuffled copy (Fisher-Yates). */
export function shuffled<T>(random: Random, rows: readonly T[]): T[] {
  const copy = [...rows];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = integer(random, 0, last);
    [copy[last], copy[other]] = [copy[other] as T, copy[last] as T];
  }
  return copy;
}
