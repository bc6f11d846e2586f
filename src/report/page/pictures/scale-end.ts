import { ascending, max } from "d3-array";

/** A value may be as many times the third quartile before the scale leaves it out. */
const outlier = 6;

/**
 * The end of a linear scale on which most values can be told apart: the largest value, unless it dwarfs the others. Bars beyond the end
 * are cut, and say so. 0 where no value is above 0.
 */
export function scaleEnd(values: readonly number[]): number {
  const sorted = values.filter((value) => value > 0).sort(ascending);
  const quartile = sorted[Math.floor(0.75 * (sorted.length - 1))] ?? 0;
  return max(sorted.filter((value) => value <= outlier * quartile)) ?? 0;
}
