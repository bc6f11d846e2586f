import { scaleLinear, scaleSymlog } from "d3-scale";
import type { Tick } from "./rows.js";
import { countTicks } from "./ticks.js";

/** A scale of lengths: where a length stands, in percent of the width, and the labels. */
export interface LengthScale {
  readonly place: (characters: number) => number;
  readonly ticks: readonly Tick[];
  readonly isLogarithmic: boolean;
}

/** A longest chunk as many times as long as the median calls for powers of ten. */
const longTimes = 8;

/** The scale on which all of these lengths can be told apart. It begins at 0, which powers of ten alone could not show. */
export function lengthScale(longest: number, median: number): LengthScale {
  const end = Math.max(longest, 1);
  if (longest <= longTimes * Math.max(median, 1)) {
    const scale = scaleLinear([0, end], [0, 100]);
    return { place: (characters) => scale(characters), ticks: countTicks(0, end), isLogarithmic: false };
  }
  const scale = scaleSymlog([0, end], [0, 100]).constant(10);
  const powers = [0, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000].filter((power) => power <= end);
  const ticks = powers.map((power) => ({ place: scale(power), label: powerText(power) }));
  return { place: (characters) => scale(characters), ticks, isLogarithmic: true };
}

/** `1,000`, `10k`, `1M`: short enough for a phone. */
function powerText(power: number): string {
  if (power >= 1_000_000) return `${power / 1_000_000}M`;
  return power >= 10_000 ? `${power / 1000}k` : power.toLocaleString("en-US");
}
