import { hashOf, type Random, randomFrom } from "../../servers/random.js";

/** A stream of randomness of its own for every purpose, so that one more draw here changes nothing there. */
export function streamOf(seed: number, purpose: string): Random {
  return randomFrom(hashOf(`${purpose} ${seed}`));
}

export const chance = (random: Random, share: number) => random() < share;

/** From low to high, small numbers as often as large ones. */
export function logarithmic(random: Random, low: number, high: number): number {
  return low * (high / low) ** random();
}
