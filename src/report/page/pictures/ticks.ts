import { scaleLinear, scaleUtc } from "d3-scale";
import { utcFormat } from "d3-time-format";
import type { Tick } from "./rows.js";
import { hundredths } from "./svg.js";

/** Labels on a scale; more would touch each other on a phone. */
const mostTicks = 5;

/** `20`, `0`, `20`, `40` … from one count to the other, and no further; both sides of 0 count upwards. */
export function countTicks(from: number, to: number): readonly Tick[] {
  const scale = scaleLinear([from, to], [0, 100]);
  return scale
    .ticks(mostTicks - 1)
    .filter(Number.isInteger)
    .map((count) => ({ place: scale(count), label: Math.abs(count).toLocaleString("en-US") }));
}

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

const steps: readonly (readonly [milliseconds: number, unit: number, name: string])[] = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30].map((count) => [count * second, second, "s"] as const),
  ...[1, 2, 5, 10, 15, 30].map((count) => [count * minute, minute, "min"] as const),
  ...[1, 2, 3, 6, 12].map((count) => [count * hour, hour, "h"] as const),
  ...[1, 2, 5].flatMap((count) => [1, 10, 100, 1000, 10_000].map((power) => [count * power * day, day, "d"] as const)),
].sort(([a], [b]) => a - b);

/** `0`, `5 min`, `10 min` … up to the end, in milliseconds, and no further. */
export function durationTicks(end: number): readonly Tick[] {
  const step = steps.find(([milliseconds]) => milliseconds * (mostTicks - 1) >= end) ?? steps.at(-1);
  if (!step || end <= 0) return [];
  const [milliseconds, unit, name] = step;
  const count = Math.min(mostTicks, Math.floor(end / milliseconds));
  return Array.from({ length: count + 1 }, (_, at) => {
    const time = at * milliseconds;
    return { place: (100 * time) / end, label: at === 0 ? "0" : `${hundredths(time / unit)} ${name}` };
  });
}

/** The times that dates are made for, in milliseconds: the years 1 to 9999. d3 looks for ticks without end at the last dates that there are. */
const [earliest, latest] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T00:00:00Z")];

/**
 * Dates between two times, in UTC. A year, a month or a day, as the time between them asks for it. None where one of the times is not in
 * the years 1 to 9999.
 */
export function dateTicks(from: number, to: number): readonly Tick[] {
  if (!(from >= earliest && to <= latest)) return [];
  const scale = scaleUtc([from, to], [0, 100]);
  const format = utcFormat(formatFor(to - from));
  const ticks = scale.ticks(mostTicks).map((date) => ({ place: scale(date), label: format(date) }));
  const distinct = ticks.filter(({ label }, at) => label !== ticks[at - 1]?.label);
  return distinct.filter((tick, at) => !isCrowded(tick.place, distinct[at - 1]?.place, distinct[at + 1]?.place));
}

/** Whether a label at an edge, which it may not cross, comes too close to the one beside it on a phone. */
function isCrowded(place: number, before: number | undefined, after: number | undefined): boolean {
  const room = 27;
  if (place < 8) return after !== undefined && after - place < room;
  return place > 92 && before !== undefined && place - before < room;
}

function formatFor(span: number): string {
  if (span > 4 * 365 * day) return "%Y";
  if (span > 90 * day) return "%b %Y";
  return span > 3 * day ? "%-d %b" : "%-d %b %H:%M";
}
