import { ascending, max } from "d3-array";
import { scaleLinear, scaleUtc } from "d3-scale";
import { utcFormat } from "d3-time-format";
import type { NamedDocument } from "../named-document.js";
import { foreignText, type Html, type HtmlValue, html, isBlank } from "./html.js";

/**
 * A place or width on a drawing, as a percentage of its width: no drawing knows how wide the screen is. Values beyond the drawing stop at
 * its edge; what is no number stands at its beginning.
 */
export function percent(value: number): string {
  return `${hundredths(Math.min(100, Math.max(0, value)))}%`;
}

/** A number with two decimals at the most; 0 for what is no number. */
export function hundredths(value: number): number {
  return Math.round(value * 100) / 100 || 0;
}

/** A piece of a bar, from one place to another, as percentages of the width of the drawing. */
interface BarPiece {
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly height: number;
  /** The class, or the hatch, that fills it. */
  readonly fill: Fill;
  /** The words that stand beside the pointer. */
  readonly title?: string;
}

/** A class of page.css such as `mark-3`; or the id of a hatch, which another drawing of the same picture may hold. */
export type Fill = { readonly mark: string } | { readonly hatch: string };

/** A piece of a bar. One without a length is drawn as a hairline. */
export function renderPiece({ from, to, top, height, fill, title }: BarPiece): Html {
  const width = Math.min(100, to) - Math.max(0, from);
  const place = html`x="${percent(from)}" y="${hundredths(top)}" width="${percent(width)}" height="${hundredths(height)}"`;
  return html`<rect ${place} ${renderFill(fill)}>${title && html`<title>${title}</title>`}</rect>`;
}

function renderFill(fill: Fill): Html {
  return "mark" in fill ? html`class="${fill.mark}"` : html`class="hatched" fill="url(#${fill.hatch})"`;
}

/** Oblique lines that stand for one state, so that it does not depend on colour. */
function renderHatch({ id, mark }: { readonly id: string; readonly mark: string }): Html {
  return html`<defs><pattern id="${id}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="${mark}" width="2.5" height="5"/></pattern></defs>`;
}

/** An oblique cut near the end of a bar that is longer than the drawing is wide. */
export function renderBreak(side: "left" | "right", height: number): Html {
  const begin = side === "right" ? -18 : 8;
  const path = `M${begin} ${height + 2}l6 -${height + 4}h5l-6 ${height + 4}z`;
  return html`<svg class="cut" x="${side === "right" ? "100%" : "0%"}" height="${height}" overflow="visible"><path class="break" d="${path}"/></svg>`;
}

/** A line from top to bottom. */
export function renderUpright(place: number, height: number, mark = "grid"): Html {
  return html`<line class="${mark}" x1="${percent(place)}" x2="${percent(place)}" y1="0" y2="${hundredths(height)}"/>`;
}

/** A drawing inside a picture that has words of its own: assistive software passes it by. */
export function renderDrawing(height: number, marks: HtmlValue): Html {
  return html`<svg width="100%" height="${hundredths(height)}" aria-hidden="true">${marks}</svg>`;
}

/** A text at a place, which stays inside the drawing at its edges. */
export function renderLabel(place: number, y: number, text: string): Html {
  const anchor = place < 8 ? "start" : place > 92 ? "end" : "middle";
  return html`<text x="${percent(place)}" y="${hundredths(y)}" text-anchor="${anchor}">${text}</text>`;
}

/** A fill and the words for it. */
export interface Key {
  readonly fill: Fill;
  readonly text: string;
}

interface PictureText {
  /** The beginning of every id in the picture; each picture has another one. */
  readonly id: string;
  /** The finding, not the drawing, in a sentence: this is the text alternative. */
  readonly finding: HtmlValue;
  /** How to read it, where the labels do not say it. */
  readonly hint?: HtmlValue;
  readonly keys?: readonly Key[];
  /** Whether the figures of the rows are whole phrases, which need a wide column. */
  readonly hasPhrases?: boolean;
}

/** A picture with its finding above it. The drawing counts as one image, which the finding names. */
export function renderFigure({ id, finding, hint, keys = [], hasPhrases }: PictureText, drawing: HtmlValue): Html {
  return html`<figure class="chart${hasPhrases && " phrases"}">
<figcaption><p id="${id}-finding">${finding}</p>
${hint && html`<p class="hint">${hint}</p>`}
${keys.length > 0 && html`<p class="keys">${keys.map(renderKey)}</p>`}</figcaption>
<div role="img" aria-labelledby="${id}-finding">
${drawing}
</div>
</figure>`;
}

function renderKey({ fill, text }: Key): Html {
  const swatch = renderPiece({ from: 0, to: 100, top: 1, height: 10, fill });
  return html`<span class="key"><svg width="14" height="12" aria-hidden="true">${swatch}</svg> ${text}</span> `;
}

/** The hatches of a picture, which its drawings use by their ids. Nothing of it is seen. */
export function renderHatches(hatches: readonly { readonly id: string; readonly mark: string }[]): Html {
  return html`<svg class="hatches" width="0" height="0" aria-hidden="true">${hatches.map(renderHatch)}</svg>`;
}

/** Rows that a picture shows at the most. The table beside it has more. */
export const mostPictureRows = 30;

/** Characters of a name beside a drawing; the style cuts it to the room that there is. */
const longestName = 80;

export interface PictureRow {
  readonly name: HtmlValue;
  /** SVG marks, with places in percent of the width. */
  readonly marks: HtmlValue;
  /** The figure that the row is about, as text. */
  readonly value: HtmlValue;
}

/** A mark of a scale: its place in percent of the width, and its label. */
export interface Tick {
  readonly place: number;
  readonly label: string;
}

const axisHeight = 18;

/** Rows of one scale, with the scale above them: the name, the drawing and the figure of each. */
export function renderRows(rows: readonly PictureRow[], ticks: readonly Tick[], height: number): Html {
  const grid = ticks.map(({ place }) => renderUpright(place, height));
  const axis = ticks.map(({ place, label }) => renderLabel(place, axisHeight - 5, label));
  return html`<div class="row axis">${renderDrawing(axisHeight, axis)}</div>
${rows.map(
  ({ name, marks, value }) =>
    html`<div class="row"><span class="name">${name}</span>${renderDrawing(height, [grid, marks])}<span class="value">${value}</span></div>\n`,
)}`;
}

/** The name of a document in one line, or the beginning of its id where no name was listed. */
export function shortName({ document_name, document_id }: NamedDocument): Html {
  const name = foreignText(document_name ?? "", longestName);
  return isBlank(name) ? html`<code>${foreignText(document_id, 8)}</code>` : html`<bdi>${name}</bdi>`;
}

/** ` The picture shows 30 of 41: …`, where it leaves some out; else nothing. */
export function shownText(shown: number, total: number, order: string): string {
  return shown < total ? ` The picture shows ${shown} of ${total.toLocaleString("en-US")}: ${order}.` : "";
}

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

/** The last moment that a Date can be, in milliseconds. */
const latestDay = 8.64e15;

/** `2026-11-20`, in UTC. */
export function dayText(milliseconds: number): Html {
  const day = new Date(Math.max(-latestDay, Math.min(latestDay, milliseconds))).toISOString().replace(/T.*/, "");
  return html`<time datetime="${day}">${day}</time>`;
}
