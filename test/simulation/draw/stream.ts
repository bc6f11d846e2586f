import { hashOf, type Random, randomFrom } from "../../servers/random.js";

/** A separate random stream for each purpose, so that an extra draw for one does not change the others. */
export function streamOf(seed: number, purpose: string): Random {
  return randomFrom(hashOf(`${purpose} ${seed}`));
}

export const chance = (random: Random, share: number) => random() < share;

/** A number from `low` to `high`, log-uniform: small magnitudes are as likely as large ones. */
export function logarithmic(random: Random, low: number, high: number): number {
  return low * (high / low) ** random();
}
